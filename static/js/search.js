/* The search field at the top: what is found stands under it while one types, and is chosen by arrow keys.
   Without this the field is a form that leads to a page of results. */
(() => {
  "use strict";
  const form = document.querySelector("[data-find]");
  if (!form) return;
  const input = form.querySelector("[data-search]");
  const panel = document.getElementById("found");
  const list = document.getElementById("found-list");
  const says = document.getElementById("found-says");
  const busy = document.getElementById("found-busy");
  const options = () => [...list.querySelectorAll("[role=option]")];
  let active = -1;

  // Without this script it is a plain field, and said to be one.
  const roles = { role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "found-list" };
  for (const [name, value] of Object.entries(roles)) input.setAttribute(name, value);

  function show(isOpen) {
    panel.hidden = !isOpen;
    input.setAttribute("aria-expanded", String(isOpen && options().length > 0));
    if (!isOpen) choose(-1);
  }

  function choose(place) {
    const all = options();
    active = place < -1 ? all.length - 1 : place >= all.length ? -1 : place;
    all.forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
    if (active < 0) {
      input.removeAttribute("aria-activedescendant");
    } else {
      input.setAttribute("aria-activedescendant", all[active].id);
      all[active].scrollIntoView({ block: "nearest" });
    }
  }

  /* What was found for other words goes away at once: Enter never opens what one didn't mean. */
  function forget() {
    htmx.trigger(input, "htmx:abort");
    list.replaceChildren();
    says.replaceChildren();
    choose(-1);
  }

  function wait(isWaiting) {
    busy.hidden = !isWaiting;
    input.setAttribute("aria-busy", String(isWaiting));
  }

  input.addEventListener("input", () => {
    forget();
    const asks = input.value.trim() !== "";
    wait(asks);
    show(asks);
  });

  input.addEventListener("keydown", (event) => {
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!options().length) return;
      event.preventDefault();
      if (panel.hidden) show(true);
      choose(active + (event.key === "ArrowDown" ? 1 : -1));
    } else if (event.key === "Enter" && active >= 0) {
      event.preventDefault();
      options()[active].click();
    } else if (event.key === "Escape" && !panel.hidden) {
      event.preventDefault();
      htmx.trigger(input, "htmx:abort");
      wait(false);
      show(false);
    }
  });

  input.addEventListener("focus", () => options().length && show(true));
  input.addEventListener("blur", () => show(false));
  // A click into the list takes no focus from the field, so that it is still there to be clicked.
  panel.addEventListener("mousedown", (event) => event.preventDefault());

  input.addEventListener("htmx:beforeRequest", (event) => {
    if (input.value.trim() === "" || panel.hidden) event.preventDefault();
  });
  input.addEventListener("htmx:afterRequest", (event) => {
    // Another one is on its way where this one was given up.
    if (event.detail.xhr.status) wait(false);
    if (!event.detail.successful && event.detail.xhr.status) show(false);
  });
  input.addEventListener("htmx:sendError", () => {
    wait(false);
    show(false);
  });
  list.addEventListener("htmx:afterSwap", () => {
    choose(-1);
    if (document.activeElement === input && !panel.hidden) show(true);
  });
})();
