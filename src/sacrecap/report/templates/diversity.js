// The page of caption sets: its blocks, and the systems that the reader hides.

import {Plot} from "./charts.js";
import {carried, element, fill, legend} from "./dom.js";
import {chooser, systemName} from "./marks.js";
import {setImages} from "./set_images.js";
import {copySignatures} from "./signatures.js";

/** @type {SetsPage} */
const report = await unpacked(carried().gzip);
copySignatures();

/**
 * Numbers of the systems that are not shown.
 * @type {Set<number>}
 */
const hidden = new Set();

document.querySelectorAll("table.figures thead th + th").forEach((head, number) =>
  head.replaceChildren(systemName(report, number)));

const plots = report.pictures.map(({panel, looks, systems, system, title, note}) => {
  const flat = panel.kind === "plane";
  const plot = new Plot(panel, looks, {title, note: flat ? "" : note, hidden: (look) => hidden.has(systems[look] ?? -1)});
  return {plot, system, flat, note};
});
const [planes, others] = [true, false].map((flat) => plots.filter((one) => one.flat === flat));
fill("plots", [], chooser(report, hidden, () => {
  for (const {plot, system} of plots) {
    plot.figure.hidden = hidden.has(system ?? -1);
    plot.draw();
  }
  list.turn(list.page);
}), ...report.left_out.map((reason) => element("p", {class: "note left-out"}, reason)),
element("div", {class: "plots"}, ...others.map(({plot}) => plot.figure)), legend(planes[0].note),
element("div", {class: "plots planes"}, ...planes.map(({plot}) => plot.figure)));
const list = setImages(report, hidden);

/** @param {string} text */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
