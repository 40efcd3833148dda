// The page of one system: reads its data and fills its sections.

import {carried} from "./dom.js";
import {showExtremes} from "./extremes.js";
import {showHistograms} from "./histograms.js";
import {showScoreFacts, showScores} from "./scores.js";
import {ImageTable} from "./table.js";

/** @type {ScorePage} */
const report = carried();

showScoreFacts(report);
showScores(report);
showExtremes(report);

const charts = showHistograms(report, choose);
const table = new ImageTable(report, () => choose(null, 0));

/**
 * Chooses a bar of one histogram, or none; the charts and the table follow.
 * @param {ScoredMetric | null} metric
 * @param {number} bin
 */
function choose(metric, bin) {
  charts.forEach((chart) => chart.mark(chart.metric === metric ? bin : null));
  table.filterBy(metric, bin);
}
