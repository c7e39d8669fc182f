/* What a page does beyond links and forms. Every page works without it. */
(() => {
  "use strict";
  const root = document.documentElement;
  root.classList.add("js");

  /* `/` goes to the search, as long as nobody is typing and single keys are on. Escape closes menus. */
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    if (event.key === "/" && root.dataset.shortcuts !== "off" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      const search = document.querySelector("[data-search]");
      if (search) {
        event.preventDefault();
        search.focus();
        search.select();
      }
    }
    if (event.key === "Escape") {
      const open = document.querySelector("[data-menu][open]");
      if (open) {
        open.open = false;
        open.querySelector("summary").focus();
      }
    }
  });

  /* A menu closes when something else is used. */
  document.addEventListener("click", (event) => {
    for (const menu of document.querySelectorAll("[data-menu][open]")) {
      if (!menu.contains(event.target)) menu.open = false;
    }
  });

  /* On a narrow page the menu is a row that scrolls: where one is stands in sight. */
  const current = document.querySelector(".nav [aria-current]");
  if (current) {
    const row = current.closest(".nav");
    row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
  }

  /* What of that row is out of sight fades where it goes on. */
  const tabs = document.querySelector(".nav");
  function fade() {
    tabs.classList.toggle("nav--from", tabs.scrollLeft > 1);
    tabs.classList.toggle("nav--on", tabs.scrollLeft + tabs.clientWidth < tabs.scrollWidth - 1);
  }
  if (tabs) {
    fade();
    tabs.addEventListener("scroll", fade, { passive: true });
    addEventListener("resize", fade);
  }

  /* On a phone the filters of a list are folded. Those that come anew with it are as they were. */
  let unfolded = false;
  function fold() {
    for (const button of document.querySelectorAll("[data-fold]")) button.setAttribute("aria-expanded", String(unfolded));
  }
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-fold]")) return;
    unfolded = !unfolded;
    fold();
  });
  document.addEventListener("htmx:afterSwap", fold);

  /* Each number that is typed into a date makes it another date: it holds once one is through with it. */
  const isDate = (event) => event.target.matches?.(".filters [type=date]");
  document.addEventListener("keydown", (event) => isDate(event) && (event.target.dataset.typing = ""));
  document.addEventListener("pointerdown", (event) => isDate(event) && delete event.target.dataset.typing);
  document.addEventListener("change", (event) => isDate(event) && "typing" in event.target.dataset && event.stopPropagation(), true);
  document.addEventListener("focusout", (event) => {
    if (!isDate(event) || !("typing" in event.target.dataset)) return;
    delete event.target.dataset.typing;
    if (event.target.value !== event.target.defaultValue) event.target.dispatchEvent(new Event("change", { bubbles: true }));
  });

  /* Copy buttons: there is nothing for them to do without this. */
  for (const button of document.querySelectorAll("[data-copy]")) {
    const said = button.textContent;
    button.hidden = false;
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
        button.textContent = "Copied";
        announce("Copied.");
      } catch {
        button.textContent = "Select and copy it by hand";
      }
      setTimeout(() => (button.textContent = said), 2000);
    });
  }

  function announce(sentence) {
    document.getElementById("announcement").textContent = sentence;
  }

  /* Theme, density and single keys change at once; the forms without this load the page again. */
  for (const form of document.querySelectorAll("[data-look]")) {
    const look = form.dataset.look;
    form.addEventListener("submit", async (event) => {
      const chosen = event.submitter && event.submitter.value;
      if (!chosen) return;
      event.preventDefault();
      const answer = await fetch(form.action, {
        method: "POST",
        body: new FormData(form, event.submitter),
        redirect: "manual",
      });
      if (answer.type !== "opaqueredirect" && !answer.ok) return;
      if (["system", "comfortable", "on"].includes(chosen)) delete root.dataset[look];
      else root.dataset[look] = chosen;
      for (const button of document.querySelectorAll(`[data-look="${look}"] button`)) {
        button.setAttribute("aria-pressed", String(button.value === chosen));
      }
    });
  }

  /* A bag opens in place: the first click loads what is inside, later ones show and hide it. */
  const insideOf = (twist) => document.getElementById(twist.getAttribute("aria-controls"));

  function turn(twist, open) {
    twist.setAttribute("aria-expanded", String(open));
    insideOf(twist).hidden = !open;
  }

  document.addEventListener("htmx:beforeRequest", (event) => {
    const twist = event.target.closest("[data-twist]");
    if (!twist) return;
    const open = twist.getAttribute("aria-expanded") === "true";
    if (open || insideOf(twist).childElementCount) {
      event.preventDefault();
      turn(twist, !open);
    }
  });

  /* A button that does something with what is ticked waits until something is. */
  function wait() {
    for (const button of document.querySelectorAll("[data-needs]")) {
      button.disabled = !button.form.querySelector(`[name="${button.dataset.needs}"]:checked`);
    }
  }
  wait();
  document.addEventListener("change", wait);
  document.addEventListener("htmx:afterSettle", wait);
  addEventListener("pageshow", wait);

  /* Who ticks something wants to decide it. */
  document.addEventListener("change", (event) => {
    const acts = document.querySelector("[data-several]");
    if (acts && event.target.matches("[name=reviews]:checked")) acts.open = true;
  });

  /* A proposal opened beside the queue: its row is the current one, and its heading is where one reads on. */
  // Only once it is settled: until then it wears the class of what it replaces, and may not be seen.
  document.addEventListener("htmx:afterSettle", (event) => {
    const change = document.getElementById("change");
    if (!change || event.detail.target.id !== "change") return;
    const open = document.getElementById("open-review");
    for (const row of document.querySelectorAll("[data-row]")) {
      if (open && row.id === `row-${open.value}`) row.setAttribute("aria-current", "true");
      else row.removeAttribute("aria-current");
    }
    const heading = document.getElementById("change-title");
    // Who writes in it already isn't taken away: what is typed would be read as keys.
    const active = document.activeElement;
    if (!heading || (change.contains(active) && active.matches("input, textarea, select"))) return;
    heading.focus({ preventScroll: true });
    const top = change.getBoundingClientRect().top;
    if (top < 0 || top > innerHeight / 2) change.scrollIntoView();
  });

  document.addEventListener("htmx:afterSwap", (event) => {
    const twist = event.detail.requestConfig && event.detail.requestConfig.elt.closest("[data-twist]");
    if (twist && event.detail.target === insideOf(twist)) turn(twist, true);
  });
})();
