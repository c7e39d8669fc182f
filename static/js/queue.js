/* The queue by keyboard: j and k move, a approves, e edits, x goes to the note of a rejection, ? says so.
   The buttons and links of the page do what is done; without this they are all there is. */
(() => {
  "use strict";
  const announce = (sentence) => (document.getElementById("announcement").textContent = sentence);
  const change = () => document.getElementById("change");
  const rows = () => [...document.querySelectorAll("[data-row]")];
  const isSeen = (element) => Boolean(element && element.getClientRects().length);
  const keys = document.getElementById("keys");

  /* The request whose answer will stand where the proposal stands now, and the row that it is of. */
  let loading = null;
  let wanted = "";
  let editing = false;
  let isSent = false;

  /* What has only just come into sight can't have been read: a second click or key, meant for what stood there
     before, decides nothing. The style does the same for clicks, also without a script. */
  const SETTLES = 1000;
  let settling = 0;

  function settle() {
    clearTimeout(settling);
    change().dataset.settling = "";
    settling = setTimeout(() => delete change().dataset.settling, SETTLES);
  }

  settle();
  const isSettling = () => "settling" in change().dataset;

  /* Who edits what is proposed has read it. */
  document.addEventListener("input", (event) => {
    if (!event.target.closest(".edit")) return;
    clearTimeout(settling);
    delete change().dataset.settling;
  });

  function place() {
    const all = rows();
    const focused = all.indexOf(document.activeElement);
    if (!isSeen(change()) && focused >= 0) return focused;
    const at = wanted ? all.findIndex((row) => row.id === wanted) : -1;
    return at >= 0 ? at : all.findIndex((row) => row.getAttribute("aria-current") === "true");
  }

  function move(step) {
    const all = rows();
    // On a narrow page nothing is open beside the list: the first step goes to its first row.
    const listAlone = !isSeen(change());
    const from = listAlone && !all.includes(document.activeElement) ? (step > 0 ? -1 : all.length) : place();
    const row = all[from + step];
    if (!row) {
      const more = step > 0 && document.querySelector(".queue__pager [rel=next]");
      announce(more ? "That was the last of this page. There is a next page." : step > 0 ? "That was the last." : "That was the first.");
      return;
    }
    row.scrollIntoView({ block: "nearest" });
    if (listAlone) {
      row.focus();
      return;
    }
    wanted = row.id;
    row.click();
  }

  /* What is decided is what is seen: nothing while another one is on its way, nothing that isn't shown. */
  function actOf(key) {
    if (loading) {
      announce("Still loading. Press it again in a moment.");
      return null;
    }
    if (!isSeen(change())) {
      announce("No proposal is open. Enter opens the one in focus.");
      return null;
    }
    const act = change().querySelector(`[data-key="${key}"]`);
    if (act) return act;
    const why = change().querySelector(".acts__why, .acts--none");
    const edit = change().querySelector(".edit");
    announce(edit ? "It is being edited. Approve it as edited, or leave it as proposed." : why ? why.textContent.trim() : "There is nothing to decide here.");
    return null;
  }

  const ACTS = {
    j: () => move(1),
    k: () => move(-1),
    a: () => {
      const approve = isSent ? null : actOf("a");
      if (approve) approve.click();
    },
    e: () => {
      const edit = actOf("e");
      if (!edit) return;
      editing = true;
      edit.click();
    },
    x: () => {
      const reject = actOf("x");
      if (!reject) return;
      const note = document.getElementById("note");
      note.dataset.rejects = "true";
      document.getElementById("note-how").hidden = false;
      note.focus();
      note.scrollIntoView({ block: "nearest" });
    },
    "?": () => keys.showModal(),
  };
  // A key that is held down moves on and on, and decides nothing.
  const REPEATS = new Set(["j", "k"]);

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (document.documentElement.dataset.shortcuts === "off") return;
    if (keys.open || document.querySelector("[data-menu][open]")) return;
    if (event.target.closest("textarea, select, [contenteditable], input:not([type=checkbox])")) return;
    const act = Object.hasOwn(ACTS, event.key) && ACTS[event.key];
    if (!act) return;
    event.preventDefault();
    if (!event.repeat || REPEATS.has(event.key)) act();
  });

  /* In the note of a rejection: Ctrl+Enter sends it, Escape leaves it. */
  document.addEventListener("keydown", (event) => {
    const note = event.target;
    if (note.id !== "note" || !note.dataset.rejects) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat && !isSent) {
      const reject = actOf("x");
      if (!reject) return;
      event.preventDefault();
      reject.click();
    } else if (event.key === "Escape") {
      delete note.dataset.rejects;
      document.getElementById("note-how").hidden = true;
      document.getElementById("change-title").focus();
    }
  });

  /* Keys and clicks come through here: a form is sent once, and not before it could be read. Who has written
     the note of a rejection has read. */
  document.addEventListener("submit", (event) => {
    if (event.target.method !== "post" || !change().contains(event.target)) return;
    const tooSoon = isSettling() && event.submitter?.value !== "reject";
    if (isSent || tooSoon) {
      event.preventDefault();
      if (!isSent) announce("Only just opened. Decide it in a moment.");
      return;
    }
    isSent = true;
    // Who stopped the browser on the way may try again.
    setTimeout(() => (isSent = false), 5000);
    if (event.submitter?.value === "approve") announce("Approving.");
  });

  for (const button of document.querySelectorAll("[data-keys]")) {
    button.addEventListener("click", () => keys.showModal());
  }

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.detail.target.id === "change") loading = event.detail.xhr;
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.xhr !== loading) return;
    loading = null;
    if (!event.detail.successful) wanted = "";
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target.id === "panel") settle();
    if (event.detail.target.id !== "change") return;
    wanted = "";
    settle();
    const field = editing && document.querySelector(".edit .field input, .edit .field textarea");
    if (field) field.focus();
    editing = false;
  });

  /* Back from another page a form can be sent again. A page that is new has settled since the script began: this
     comes late where loading is slow, when somebody may be at work already. */
  addEventListener("pageshow", (event) => {
    isSent = false;
    if (event.persisted) settle();
  });

  /* After a decision: what was done is said, and one goes on at the next. */
  const said = [...document.querySelectorAll("#notices .notice")].map((one) => one.textContent.trim()).join(" ");
  const title = document.getElementById("change-title");
  if (said && isSeen(title)) {
    title.focus();
    sayLater(`${said} Next: ${title.textContent.trim()}`);
  } else if (said) {
    sayLater(said);
  }

  /* Once readers listen to the new page; what was said meanwhile is newer. */
  function sayLater(sentence) {
    const status = document.getElementById("announcement");
    const before = status.textContent;
    setTimeout(() => {
      if (status.textContent === before) announce(sentence);
    }, 100);
  }
})();
