// Keys, time in sight, and one sending a question. Without it the pages work with mouse, touch and Tab.
"use strict";
const form = document.getElementById("question");
if (form) {
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

  // A key chooses in the question that has the focus, or else in the first that is not answered.
  const boxes = () => [...form.querySelectorAll("fieldset, .scale")].filter((box) => radios(box).length && !box.querySelector("fieldset, .scale"));
  const choose = (key) => {
    const open = boxes().find((box) => !radios(box).some((radio) => radio.checked)) ?? boxes()[0];
    const inside = document.activeElement?.closest("fieldset, .scale");
    const options = radios(boxes().find((box) => box === inside || inside?.contains(box)) ?? open ?? form);
    const meant = options.find((radio) => radio.dataset.key === key.toLowerCase());
    if (meant) return pick(meant), true;
    if (!key.startsWith("Arrow") || options.includes(document.activeElement)) return false;
    return pick(options.find((radio) => radio.checked) ?? options[0]), options.length > 0;
  };

  document.addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey || event.metaKey) return;
    if (event.key === "Enter") {
      const writing = event.target.tagName === "TEXTAREA";
      if ((writing && !event.ctrlKey) || event.target.closest("a, summary")) return;
      event.preventDefault();
      if (!event.repeat && !sent && form.querySelector("button.go")) form.requestSubmit();
    } else if (!event.ctrlKey && event.target.tagName !== "TEXTAREA" && choose(event.key)) event.preventDefault();
  });
  form.querySelector("[data-focus]")?.focus();
}
