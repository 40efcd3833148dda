// The page of caption sets: unpacks its data and fills its sections.

import {carried} from "./dom.js";
import {showChooser} from "./marks.js";
import {showFigures, showSetFacts, showTests} from "./set_figures.js";
import {showPlots} from "./set_plots.js";
import {SetTable} from "./set_table.js";

/** @type {SetsPage} */
const report = await unpacked(carried().gzip);

/**
 * Numbers of the systems that are not shown.
 * @type {Set<number>}
 */
const hidden = new Set();

showSetFacts(report);
showFigures(report);
showTests(report);
const plots = showPlots(report, hidden);
const table = new SetTable(report, hidden);
showChooser(report, hidden, () => {
  plots.forEach((plot) => plot.draw());
  table.turn(table.page);
});

/** @param {string} text */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
