// The page: reads the data it carries and fills its sections.

const report = JSON.parse(document.getElementById("data").textContent);

showFacts(report);
showScores(report);
showExtremes(report);

const charts = showHistograms(report, choose);
const table = new ImageTable(report, () => choose(null, null));

/** Chooses a bar of one histogram, or none; the charts and the table follow. */
function choose(metric, bin) {
  charts.forEach((chart) => chart.mark(chart.metric === metric ? bin : null));
  table.filterBy(metric, bin);
}
