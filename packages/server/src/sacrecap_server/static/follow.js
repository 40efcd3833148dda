// Waits until a study's answers are counted, then shows the page anew. Asks less often the longer it takes.
"use strict";
const place = document.getElementById("follow");
let wait = 500;
async function ask() {
  try {
    const answer = await fetch(place.dataset.url, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(answer.status);
    const { state } = await answer.json();
    if (state === "done" || state === "failed") return location.reload();
    place.textContent = "Counting …";
  } catch {
    place.textContent = "The server does not answer; trying again …";
  }
  wait = Math.min(wait * 1.2, 5000);
  setTimeout(ask, wait);
}
setTimeout(ask, wait);
