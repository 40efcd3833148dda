// Keys, time in sight, and one sending a question. Without it the pages work with mouse, touch and Tab.
"use strict";
const form = document.getElementById("question");
if (form) {
  const kind = form.dataset.kind;
  const radios = (box) => [...box.querySelectorAll("input[type=radio]")];
  const pick = (radio) => { if (radio) { radio.checked = true; radio.focus(); } };

  // Time during which the page was in sight.
  let since = document.hidden ? null : performance.now();
  let active = 0;
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && since !== null) { active += performance.now() - since; since = null; }
    else if (!document.hidden) since = performance.now();
  });

  let sent = false;
  form.addEventListener("submit", (event) => {
    if (sent) return event.preventDefault();
    sent = true;
    form.elements.active.value = Math.round(active + (since === null ? 0 : performance.now() - since));
  });
  // Back to a page that the browser kept: it may be sent again, which changes nothing.
  addEventListener("pageshow", () => { sent = false; });

  const choose = {
    choice(key) {
      const options = radios(form);
      const now = options.findIndex((option) => option.checked);
      if (key === "1" || key === "2") return pick(options[key - 1]), true;
      if (key === "ArrowUp" || key === "ArrowLeft") return pick(options[now === 1 || now === -1 ? 0 : now]), true;
      if (key === "ArrowDown" || key === "ArrowRight") return pick(options[now === -1 ? 0 : 1]), true;
      return false;
    },
    diversity(key) {
      const set = document.activeElement?.closest(".rated") ?? form.querySelector(".rated");
      if (/^[0-9]$/.test(key)) return pick(radios(set)[Number(key)]), true;
      return false;
    },
    collection() { return false; },
  }[kind === "triplet" || kind === "pairwise" ? "choice" : kind];

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || event.metaKey) return;
    if (event.key === "Enter") {
      const writing = event.target.tagName === "TEXTAREA";
      if ((writing && !event.ctrlKey) || event.target.tagName === "A") return;
      event.preventDefault();
      if (!event.repeat && !sent && !form.querySelector("button").disabled) form.requestSubmit();
    } else if (!event.ctrlKey && choose(event.key)) event.preventDefault();
  });
  document.getElementById("sentence")?.focus();
}
