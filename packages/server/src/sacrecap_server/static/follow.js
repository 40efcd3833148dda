// Follows a submission until it is scored, then shows the page anew. Asks less often the longer it takes.
"use strict";
const place = document.getElementById("follow");
let wait = 500;
async function ask() {
  try {
    const answer = await fetch(place.dataset.url, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status);
    const { state, progress } = await answer.json();
    if (state === "done" || state === "failed") return location.reload();
    place.textContent = state === "queued" ? place.dataset.queued : `${place.dataset.running} ${progress}`;
  } catch {
    place.textContent = place.dataset.away;
  }
  wait = Math.min(wait * 1.2, 5000);
  setTimeout(ask, wait);
}
setTimeout(ask, wait);
