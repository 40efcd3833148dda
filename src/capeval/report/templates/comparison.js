// The page: reads the data it carries, fills its sections, and holds what the reader chose.

const report = JSON.parse(document.getElementById("data").textContent);

showFacts(report);
showSystems(report);

const {a, b} = report.pairs[report.first];
const chosen = {a, b, metric: report.lead};
const texts = report.images.map((image) =>
  [image.id, ...image.candidates.map((caption) => caption ?? ""), ...image.references].join("\n").toLowerCase());

const choice = (label, names, field) => {
  const select = element("select", {change: () => { chosen[field] = Number(select.value); update(); }},
    ...names.map((name, number) => element("option", {value: number}, name)));
  return [select, element("label", {class: `control ${field}`}, `${label} `, select)];
};
const labels = report.metrics.map((metric) => metric.label);
const [[first, firstLabel], [second, secondLabel], [metricSelect, metricLabel]] = [
  choice("across", report.systems, "a"), choice("up", report.systems, "b"), choice("by", labels, "metric")];
document.getElementById("choice").append(firstLabel, secondLabel, metricLabel);

const search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false",
  placeholder: "id, candidates or references", input: () => updateImages()});
const order = element("select", {change: () => updateImages()});
const status_ = element("p", {class: "status", role: "status"});
document.getElementById("differences").append(...sampleNote(report), element("div", {class: "controls"},
  element("label", {class: "control", for: "search"}, "Search"), search,
  element("label", {class: "control"}, "Show ", order), status_));

const map = new PairMap(report, choosePair);
const scatter = new Scatter(report);
const table = new Differences(report);
update();

function choosePair(row, column) {
  Object.assign(chosen, {a: report.pairs[row].a, b: report.pairs[row].b, metric: column});
  update();
}

/** Shows the systems and the metric chosen, in all sections. */
function update() {
  const row = report.pairs.findIndex((pair) =>
    (pair.a === chosen.a && pair.b === chosen.b) || (pair.a === chosen.b && pair.b === chosen.a));
  map.mark(row < 0 ? null : row, chosen.metric);
  [first.value, second.value, metricSelect.value] = [chosen.a, chosen.b, chosen.metric];
  const kept = order.value;
  const [one, other] = [report.systems[chosen.a], report.systems[chosen.b]];
  order.replaceChildren(...[["both", "largest differences first"], ["first", `where ${one} is better`],
    ["second", `where ${other} is better`], ["equal", "where they are equal"]].map(([value, name]) =>
    element("option", {value}, name)));
  order.value = kept || "both";
  updateImages();
}

/** Shows the images that have every word searched for, and are on the side chosen; the largest differences first. */
function updateImages() {
  const [x, y] = [report.metrics[chosen.metric].scores[chosen.a], report.metrics[chosen.metric].scores[chosen.b]];
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const sides = {both: () => true, first: (gap) => gap > 0, second: (gap) => gap < 0, equal: (gap) => gap === 0};
  const found = texts.flatMap((text, number) =>
    (words.every((word) => text.includes(word)) && sides[order.value](x[number] - y[number]) ? [number] : []));
  const size = (number) => Math.abs(x[number] - y[number]);
  const all = report.images.length;
  status_.textContent = found.length === all ? images(all) : `${whole(found.length)} of ${images(all)}`;
  scatter.show(chosen, found);
  table.show(chosen, [...found].sort((p, q) => size(q) - size(p)));
}

/** What a page with a part of the images says about that. */
function sampleNote({images: shown, total, extremes, seed, metrics, lead}) {
  if (extremes === null) return [];
  return [element("p", {class: "note"},
    `This page holds ${whole(shown.length)} of the ${images(total)}: the ${whole(extremes)} on which the systems differ `
    + `most by ${metrics[lead].label}, and a random sample of the others (seed ${seed}). Scores, intervals and tests are `
    + "of all images.")];
}
