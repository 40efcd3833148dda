// The page of a comparison: its blocks, and the systems and the metric that the reader chose.

import {comparedImages} from "./compared_images.js";
import {carried, choice, corpusScore, element, legend, options, section, whole} from "./dom.js";
import {referencesName, showFacts} from "./facts.js";
import {PairMap} from "./pairs.js";
import {Scatter} from "./scatter.js";
import {cell, head, row, scrolling, table} from "./table.js";

/** @type {ComparisonPage} */
const report = carried();
const labels = report.metrics.map((metric) => metric.label);

showFacts(report, [
  ["Systems", whole(report.systems.length)],
  ["Images", whole(report.total)],
  ["References per image", referencesName(report)],
  ["Tokenizer", report.tokenizer],
  ["Test", report.test],
]);
section("scores", "Scores", [], scrolling("scores", table("systems",
  [head(null, "System"), ...report.metrics.map(({label, summary, signature}) => head(null, label, `${summary} ${signature}`))],
  report.systems.map((name, number) => row(report.metrics.map(({systems}) => score(systems[number])), name)))),
legend("Bold: the best. †: worse than the best, corrected p ≤ ", `${report.alpha}`,
  ". Before a score: the ranks the system may have; systems that no test separates share them."),
...report.notes.map((text) => legend(text)));

const map = new PairMap(report, (row, column) => {
  Object.assign(chosen, {a: report.pairs[row].a, b: report.pairs[row].b, metric: column});
  update();
});
section("pairs", "Differences and their p", [legend(
  element("span", {class: "key first"}, "first better"), element("span", {class: "key second"}, "second better"),
  "stronger: smaller p (0.05, 0.01, 0.001). Click a cell to choose what is shown below.")],
scrolling("pairs", map.table));

const chosen = {...report.pairs[report.first], metric: report.lead};
/** @type {[field: "a" | "b" | "metric", choice: ReturnType<typeof choice>][]} */
const choices = [
  ["a", choice("across", report.systems, (number) => { chosen.a = number; update(); })],
  ["b", choice("up", report.systems, (number) => { chosen.b = number; update(); })],
  ["metric", choice("by", labels, (number) => { chosen.metric = number; update(); })],
];
choices.forEach(([field, {label}]) => label.classList.add(field));
const scatter = new Scatter(report);
section("scatter", "Image by image", [element("div", {class: "choices"}, ...choices.map(([, {label}]) => label))],
  scatter.node);

const order = choice("Show", [], () => list.update());
const list = comparedImages(report, chosen, order, (found) => scatter.show(chosen, found));
update();

/** Shows the systems and the metric chosen, in all sections. */
function update() {
  map.mark(report.pairs.findIndex(({a, b}) =>
    (a === chosen.a && b === chosen.b) || (a === chosen.b && b === chosen.a)), chosen.metric);
  for (const [field, {select}] of choices) select.value = String(chosen[field]);
  const kept = order.select.value;
  const [one, other] = [report.systems[chosen.a], report.systems[chosen.b]];
  order.select.replaceChildren(...options(["largest differences first", `where ${one} is better`,
    `where ${other} is better`, "where they are equal"]));
  order.select.value = kept || "0";
  list.update();
}

/** @param {ComparedScore} score */
function score({value, interval, ranks: [first, last], best, worse}) {
  const bounds = interval === null ? []
    : [element("span", {class: "bounds"}, interval.map(corpusScore).join(" – "))];
  return cell(best ? "best" : null,
    element("span", {class: "rank", title: "rank"}, first === last ? `${first}` : `${first}–${last}`),
    element("span", {class: "value"}, corpusScore(value), worse ? "†" : ""), ...bounds);
}
