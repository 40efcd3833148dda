// What was compared, and the table of scores: a row a system, a column a metric.

function showFacts(report) {
  const [least, most] = report.references;
  const facts = [
    ["Systems", whole(report.systems.length)],
    ["Images", whole(report.total)],
    ["References an image", least === most ? whole(least) : `${whole(least)} to ${whole(most)}`],
    ["Tokenizer", report.tokenizer],
    ["Test", report.test],
    ["Intervals", report.level === null ? "none" : `${levelName(report)}, bootstrap over images`],
    ["capeval", report.version],
  ];
  document.getElementById("facts").append(
    ...facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

const levelName = (report) => `${parseFloat((100 * report.level).toPrecision(6))}%`;
const rankName = ([first, last]) => (first === last ? `${first}` : `${first}–${last}`);

function showSystems(report) {
  const heads = report.metrics.map((metric) =>
    element("th", {scope: "col", title: `${metric.summary} ${metric.signature}`}, metric.label));
  document.getElementById("scores").append(element("table", {class: "systems"},
    element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "System"), ...heads)),
    element("tbody", {}, ...report.systems.map((name, number) => systemRow(report, name, number)))));
  document.getElementById("scores-legend").append(
    "Bold: the best. †: worse than the best, corrected p ≤ ", `${report.alpha}`,
    ". Before a score: the ranks the system may have; systems that no test separates share them.");
}

function systemRow(report, name, number) {
  const cells = report.metrics.map((metric) => {
    const score = metric.systems[number];
    const interval = score.interval === null ? [] : [
      element("span", {class: "bounds"}, score.interval.map(corpusScore).join(" – "))];
    return element("td", {class: score.best ? "best" : null},
      element("span", {class: "rank", title: "rank"}, rankName(score.ranks)),
      element("span", {class: "value"}, corpusScore(score.value), score.worse ? "†" : ""), ...interval);
  });
  return element("tr", {}, element("th", {scope: "row"}, name), ...cells);
}
