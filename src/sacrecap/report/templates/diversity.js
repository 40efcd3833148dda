// The page of caption sets: its blocks, and the systems that the reader hides.

import {carried} from "./dom.js";
import {hiddenSystems, systemName, telling} from "./pictures.js";
import {setImages} from "./set_images.js";
import {copySignatures} from "./signatures.js";

/** @type {SetsPage} */
const report = await unpacked(carried().gzip);
copySignatures();

document.querySelectorAll("table.figures thead th + th").forEach((head, number) =>
  head.replaceChildren(systemName(report, number)));

telling(document);
const hidden = hiddenSystems(() => list.turn(list.page));
const list = setImages(report, hidden);

/** @param {string} text */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
