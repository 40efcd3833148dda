// A button that copies all signatures of a page, a line each.

import {element} from "./dom.js";

/** Adds it to the signatures; where the browser forbids copying, it selects them. */
export function copySignatures() {
  for (const lines of document.querySelectorAll(".signatures pre")) {
    const button = element("button", {type: "button", "aria-label": "Copy all signatures", click: async () => {
      try {
        await navigator.clipboard.writeText(lines.textContent ?? "");
        button.textContent = "Copied";
      } catch {
        getSelection()?.selectAllChildren(lines);
        button.textContent = "Selected";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    }}, "Copy");
    lines.before(button);
  }
}
