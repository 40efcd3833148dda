// Follows a study's progress while its page is in sight.
"use strict";
const place = document.getElementById("follow");
const bar = document.getElementById("bar");
setInterval(async () => {
  if (document.hidden) return;
  try {
    const answer = await fetch(place.dataset.url, { headers: { Accept: "application/json" } });
    if (!answer.ok) return;
    const { progress: counts } = await answer.json();
    for (const span of place.querySelectorAll("[data-count]")) {
      const text = counts[span.dataset.count].toLocaleString("en");
      if (span.textContent !== text) span.textContent = text;
    }
    bar.value = counts.answers;
  } catch { /* The server may be restarting: the next round asks again. */ }
}, 3000);
