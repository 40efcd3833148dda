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

  // What the owner may look at: text that was pasted, and another window in between.
  let pasted = false, away = false;
  form.addEventListener("paste", () => { pasted = true; });
  addEventListener("blur", () => { away = true; });

  // Answers go by script: where the network fails, the page stays, with the answer on it.
  let sent = false;
  const problem = document.getElementById("problem");
  const status = document.getElementById("saving");
  const progress = status?.textContent;
  const stay = (text) => {
    sent = false;
    status.textContent = progress;
    problem.textContent = text;
    problem.hidden = false;
    problem.scrollIntoView({ block: "nearest" });
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (sent) return;
    sent = true;
    form.elements.active.value = Math.round(active + (since === null ? 0 : performance.now() - since));
    const fields = new URLSearchParams(new FormData(form));
    if (pasted) fields.set("pasted", "1");
    if (away) fields.set("away", "1");
    const slow = setTimeout(() => { if (sent) status.textContent = form.dataset.saving; }, 400);
    try {
      const answer = await fetch(form.action, {
        method: "POST", body: fields, headers: { Accept: "application/json" },
      });
      if (answer.status >= 500 || answer.status === 429) return stay(form.dataset.unreachable);
      const told = answer.headers.get("content-type")?.startsWith("application/json") ? await answer.json() : {};
      if (told.next) location.assign(told.next);
      else stay(told.problem ?? form.dataset.refused);
    } catch {
      stay(form.dataset.unreachable);
    } finally {
      clearTimeout(slow);
    }
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
      if (key === "x" || key === "X") return pick(radios(set)[10]), true;
      return false;
    },
    collection() { return false; },
  }[kind === "triplet" || kind === "pairwise" ? "choice" : kind];

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || event.metaKey) return;
    if (event.key === "Enter") {
      const writing = event.target.tagName === "TEXTAREA";
      if ((writing && !event.ctrlKey) || event.target.closest("a, summary")) return;
      event.preventDefault();
      if (!event.repeat && !sent && form.querySelector("button.go")) form.requestSubmit();
    } else if (!event.ctrlKey && choose(event.key)) event.preventDefault();
  });
  document.getElementById("sentence")?.focus();
}
