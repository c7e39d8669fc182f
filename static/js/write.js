/* What a form for writing does beyond being sent. It is whole without it. */
(() => {
  "use strict";
  const form = document.querySelector("[data-write]");
  if (!form) return;

  /* Characters are counted as the server does: code points, with a line break as one. */
  function count(field) {
    const most = Number(field.dataset.most);
    const least = Number(field.dataset.least || 0);
    const many = [...field.value].length;
    const said = counterOf(field);
    said.textContent = `${many.toLocaleString("en")} of ${most.toLocaleString("en")}`;
    if (many > most) said.textContent += `, ${(many - most).toLocaleString("en")} too many`;
    else if (many && many < least) said.textContent += `, at least ${least}`;
    const wrong = many > most || (many > 0 && many < least);
    if (said.classList.contains("counter--bad") !== wrong) {
      said.classList.toggle("counter--bad", wrong);
      if (many > most) announce(`${labelOf(field)}: too long.`);
    }
  }

  /* At the end of what is said of the field, so that it is read with it. */
  function counterOf(field) {
    const help = document.getElementById(`${field.id}_helptext`) || field.parentElement;
    let said = help.querySelector(".counter");
    if (!said) {
      said = document.createElement("span");
      said.className = "counter";
      help.append(" ", said);
    }
    return said;
  }

  function labelOf(field) {
    return field.labels && field.labels.length ? field.labels[0].textContent.trim() : field.name;
  }

  function announce(sentence) {
    document.getElementById("announcement").textContent = sentence;
  }

  function countAll() {
    for (const field of form.querySelectorAll("[data-most]")) count(field);
  }

  form.addEventListener("input", (event) => {
    if (event.target.matches("[data-most]")) count(event.target);
    if (event.target.matches("[data-tags]")) suggestTags(event.target);
  });

  /* The tags used here: a click adds one; while a tag is typed the list offers it after those before it. */
  const tags = form.querySelector("[data-tags]");
  const list = document.getElementById("tag-list");
  const used = list ? [...list.options].map((option) => option.value) : [];

  const typed = (text) => text.split(/[\s,]+/).filter(Boolean);

  function suggestTags(field) {
    const before = field.value.slice(0, field.value.lastIndexOf(",") + 1);
    const there = new Set(typed(before));
    const lead = before ? `${before.trimEnd()} ` : "";
    list.replaceChildren(
      ...used
        .filter((tag) => !there.has(tag))
        .map((tag) => Object.assign(document.createElement("option"), { value: lead + tag })),
    );
  }

  for (const chip of form.querySelectorAll("[data-tag]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = chip.className;
    button.textContent = chip.textContent;
    button.setAttribute("aria-label", `Add the tag ${chip.dataset.tag}`);
    button.addEventListener("click", () => {
      const there = typed(tags.value);
      if (!there.includes(chip.dataset.tag)) tags.value = [...there, chip.dataset.tag].join(", ");
      announce(`Tags: ${tags.value}.`);
    });
    chip.replaceWith(button);
  }

  /* What comes anew: its counts; a preview is where one reads on. */
  document.addEventListener("htmx:afterSwap", (event) => {
    countAll();
    if (event.detail.target.id !== "preview") return;
    const heading = document.getElementById("preview-title");
    if (!heading) return;
    heading.focus({ preventScroll: true });
    heading.scrollIntoView();
  });

  countAll();
})();
