// The page of caption sets: its blocks, and the systems that the reader hides.

import {chartsOf} from "./charts.js";
import {carried, element, fill} from "./dom.js";
import {chooser, systemName} from "./marks.js";
import {setImages} from "./set_images.js";

/** @type {SetsPage} */
const report = await unpacked(carried().gzip);

/**
 * Numbers of the systems that are not shown.
 * @type {Set<number>}
 */
const hidden = new Set();

document.querySelectorAll("table.figures thead th + th").forEach((head, number) =>
  head.replaceChildren(systemName(report, number)));

const plots = chartsOf(report, hidden);
fill("plots", [], chooser(report, hidden, () => {
  plots.forEach((plot) => plot.draw());
  list.turn(list.page);
}), element("div", {class: "plots"}, ...plots.map((plot) => plot.node)));
const list = setImages(report, hidden);

/** @param {string} text */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
