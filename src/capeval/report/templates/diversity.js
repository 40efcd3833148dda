// The page: unpacks the data it carries and fills its sections.

const report = await unpacked(JSON.parse(document.getElementById("data").textContent).gzip);

/** Numbers of the systems that are not shown. */
const hidden = new Set();

showFacts(report);
showFigures(report);
showTests(report);
const plots = showPlots(report, hidden);
const table = new SetTable(report, hidden);
showChooser(report, hidden, () => {
  plots.forEach((plot) => plot.draw());
  table.turn(table.page);
});

async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
