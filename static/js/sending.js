/* What is sent, by htmx or by a form: that it is under way, what went wrong on the way, and a sign-in that
   lapsed. Every form works without it. */
(() => {
  "use strict";
  const root = document.documentElement;

  function announce(sentence) {
    document.getElementById("announcement").textContent = sentence;
  }

  /* What went wrong on the way is said above the page, once, and goes away when it works again. */
  function tell(sentence, kind) {
    const notices = document.getElementById("notices");
    if (!notices || notices.querySelector(`[data-failure="${kind}"]`)?.textContent === sentence) return;
    for (const earlier of notices.querySelectorAll("[data-failure]")) earlier.remove();
    const notice = document.createElement("p");
    notice.className = "notice notice--bad";
    notice.setAttribute("role", "alert");
    notice.dataset.failure = kind;
    notice.textContent = sentence;
    notices.prepend(notice);
  }

  function sentenceOf(xhr) {
    const wait = xhr.getResponseHeader("Retry-After");
    if (xhr.status >= 500) {
      const reference = xhr.getResponseHeader("X-Reference");
      const whom = reference ? ` If it stays so, give the operator of this hub the reference ${reference}.` : "";
      return `Something broke on the hub, and nothing was half stored. Try again in a moment.${whom}`;
    }
    if (xhr.status === 429) return `Too many requests at once. ${wait ? `Wait ${wait} seconds` : "Wait a little"}, then try again.`;
    if (xhr.status === 413) return "That is more than can be sent at once. Send less; what you typed is still here.";
    return `The hub refused that (${xhr.status}). Load the page again, and try once more.`;
  }

  const isPage = (xhr) => /^\s*<!doctype/i.test(xhr.responseText.slice(0, 100));

  // A whole page in place of a part comes from a proxy, or from where one isn't signed in: it is no part.
  document.addEventListener("htmx:beforeSwap", (event) => {
    const xhr = event.detail.xhr;
    if (xhr.status < 400 || !isPage(xhr)) return;
    event.detail.shouldSwap = false;
    tell(sentenceOf(xhr), "refused");
  });
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status >= 500) tell(sentenceOf(event.detail.xhr), "broken");
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, () => {
      tell("The hub can't be reached. Check the connection, and try again; what you typed is still here.", "unreachable");
    });
  }
  document.addEventListener("htmx:afterRequest", (event) => {
    if (!event.detail.successful) return;
    // What asks by itself tells no more than that the hub is there again.
    const over = event.target.closest("[data-quiet]") ? "[data-failure=unreachable]" : "[data-failure]";
    for (const notice of document.querySelectorAll(`#notices ${over}`)) notice.remove();
  });

  /* While something is on its way a line at the top moves, and its place is said to be busy. */
  const underWay = new Map();
  const sent = new Map();
  const showBusy = () => root.classList.toggle("is-busy", underWay.size + sent.size > 0);
  document.addEventListener("htmx:beforeSend", (event) => {
    if (event.target.closest("[data-quiet]")) return;
    underWay.set(event.detail.xhr, event.detail.target);
    event.detail.target.setAttribute("aria-busy", "true");
    showBusy();
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    const target = underWay.get(event.detail.xhr);
    if (!target) return;
    underWay.delete(event.detail.xhr);
    if (![...underWay.values()].includes(target)) target.removeAttribute("aria-busy");
    showBusy();
  });

  /* So it is with a form that leads to another page, which is sent once. Who stopped the browser on the way may
     try again: by Escape at once, else in a while; so it is where a file comes instead of a page. */
  const STOPPED = 20000;
  const buttonsOf = (form) => [...form.elements].filter((each) => each.type === "submit");

  function send(form) {
    sent.set(form, setTimeout(() => free(form), STOPPED));
    form.setAttribute("aria-busy", "true");
    for (const button of buttonsOf(form)) button.setAttribute("aria-disabled", "true");
    showBusy();
    setTimeout(() => sent.has(form) && announce("Still on its way."), 1500);
  }

  function free(form) {
    clearTimeout(sent.get(form));
    sent.delete(form);
    form.removeAttribute("aria-busy");
    for (const button of buttonsOf(form)) button.removeAttribute("aria-disabled");
    showBusy();
  }

  const freeAll = () => [...sent.keys()].forEach(free);
  addEventListener("pageshow", freeAll);
  document.addEventListener("keydown", (event) => event.key === "Escape" && freeAll());
  // Before everybody else: what is under way isn't asked about again.
  addEventListener(
    "submit",
    (event) => {
      if (!sent.has(event.target)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
    },
    true,
  );
  // After everybody else: what somebody prevented, or htmx sends, leads nowhere.
  addEventListener("submit", (event) => {
    const form = event.target;
    const opensBeside = (event.submitter?.formTarget || form.target || "_self") !== "_self";
    if (!event.defaultPrevented && form.method !== "dialog" && !opensBeside) send(form);
  });

  /* A sign-in that lapsed. A form that keeps what was typed asks for it, once it is sent as a page. */
  const KEPT = "form:is([data-kept], [data-write])";
  const isTyped = (field) => field.matches("textarea, [type=text]") && field.value;
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    const { elt: form, triggeringEvent } = event.detail.requestConfig;
    if (event.detail.xhr.status !== 401 || triggeringEvent?.type !== "submit" || !form.matches(KEPT)) return;
    event.preventDefault();
    send(form);
    form.submit();
  });
  // What asks by itself would load the page anew: not while something is typed there.
  document.addEventListener("htmx:beforeOnLoad", (event) => {
    if (!event.detail.xhr.getResponseHeader("HX-Refresh")) return;
    if (![...document.querySelectorAll(KEPT)].some((form) => [...form.elements].some(isTyped))) return;
    event.preventDefault();
    const notices = document.getElementById("notices");
    if (notices.querySelector("[data-lapsed]")) return;
    const notice = document.createElement("p");
    notice.className = "notice notice--warn";
    notice.dataset.lapsed = "";
    notice.textContent =
      "Your sign-in has lapsed. What you typed is still here: send the form, sign in, and go on with all of it.";
    notices.append(notice);
  });
})();
