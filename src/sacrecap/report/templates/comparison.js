// The page of a comparison: its blocks, and the systems and the metric that the reader chose.

import {comparedImages} from "./compared_images.js";
import {carried, choice, element, fill, options} from "./dom.js";
import {Scatter} from "./scatter.js";
import {copySignatures} from "./signatures.js";

/** @type {ComparisonPage} */
const report = carried();
copySignatures();
const cells = [...document.querySelectorAll("table.pairs tbody tr")].map((row, pair) =>
  [...row.querySelectorAll("td")].map((cell, metric) => {
    const button = element("button", {type: "button", "aria-pressed": "false", click: () => {
      [chosen.a, chosen.b] = report.pairs[pair];
      chosen.metric = metric;
      update();
    }}, ...cell.childNodes);
    cell.append(button);
    return button;
  }));

const [a, b] = report.pairs[report.first];
const chosen = {a, b, metric: report.lead};
/** @type {[field: "a" | "b" | "metric", choice: ReturnType<typeof choice>][]} */
const choices = [
  ["a", choice("across", report.systems, (number) => { chosen.a = number; update(); })],
  ["b", choice("up", report.systems, (number) => { chosen.b = number; update(); })],
  ["metric", choice("by", report.metrics.map(({label}) => label), (number) => { chosen.metric = number; update(); })],
];
choices.forEach(([field, {label}]) => label.classList.add(field));
const scatter = new Scatter(report);
fill("scatter", [element("div", {class: "choices"}, ...choices.map(([, {label}]) => label))],
  scatter.node);

const order = choice("Show", [], () => list.update());
const list = comparedImages(report, chosen, order, (found) => scatter.show(chosen, found));
update();

/** Shows the systems and the metric chosen, in all sections. */
function update() {
  const pair = report.pairs.findIndex(([one, other]) =>
    (one === chosen.a && other === chosen.b) || (one === chosen.b && other === chosen.a));
  cells.flat().forEach((cell) => cell.setAttribute("aria-pressed", String(cell === cells[pair]?.[chosen.metric])));
  for (const [field, {select}] of choices) select.value = String(chosen[field]);
  const kept = order.select.value;
  const [one, other] = [report.systems[chosen.a], report.systems[chosen.b]];
  order.select.replaceChildren(...options(["largest differences first", `where ${one} is better`,
    `where ${other} is better`, "where they are equal"]));
  order.select.value = kept || "0";
  list.update();
}
