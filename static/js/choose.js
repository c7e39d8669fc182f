/* Choosing several in a list: how many are chosen, all that are shown at once. The form works without it. */
(() => {
  "use strict";
  const boxes = () => [...document.querySelectorAll("input[name=item][form=several]")];

  function tell() {
    const form = document.querySelector("[data-choose]");
    if (!form) return;
    const every = form.querySelector("[data-choose-all]");
    const shown = form.querySelector("[data-choose-shown]");
    const ticked = boxes().filter((box) => box.checked).length;
    const many = every && every.checked ? Number(every.dataset.chooseAll) : ticked;
    const listed = boxes().filter((box) => !box.closest(".rows--inside"));
    shown.checked = listed.length > 0 && listed.every((box) => box.checked);
    form.classList.toggle("choose--some", many > 0);
    form.querySelector("[data-choose-hint]").hidden = many > 0;
    const count = form.querySelector("[data-choose-count]");
    const said = many ? `${many.toLocaleString("en")} chosen` : "";
    if (count.textContent !== said) count.textContent = said;
  }

  document.addEventListener("change", (event) => {
    const box = event.target;
    if (box.matches("[data-choose-shown]")) {
      for (const each of boxes()) {
        if (!each.closest(".rows--inside")) each.checked = box.checked;
      }
    }
    if (box.matches("input[name=item][form=several], [data-choose-shown], [data-choose-all]")) tell();
  });

  /* A page that was come back to keeps its ticks; a list that was swapped in has none. */
  addEventListener("pageshow", tell);
  document.addEventListener("htmx:afterSettle", tell);
})();
