// The table of corpus scores, each on its metric's range.

import {corpusScore, element, percent, shape} from "./dom.js";
import {levelName} from "./facts.js";
import {cell, head, row, table} from "./table.js";

/** @param {ScorePage} report */
export function scoreTable(report) {
  const intervals = report.level !== null;
  const heads = ["Metric", "Score", ...(intervals ? [`${levelName(report)} interval`] : []), "On the metric’s range",
    "Signature"];
  return table("scores", heads.map((name) => head(null, name)), report.metrics.map((metric) => row([
    cell("value", corpusScore(metric.value)),
    // A metric without a score has no interval, but its cell.
    ...(intervals ? [cell("interval", (metric.interval ?? []).map(corpusScore).join(" – "))] : []),
    cell("range", ...intervalPlot(metric)),
    cell("signature", signature(metric)),
  ], metric.label, element("span", {class: "summary"}, metric.summary))));
}

/**
 * The interval as a bar, the score as a tick, from 0 to the largest score the metric can have (or the charts reach); in a
 * list of one, which is empty where no image has a score.
 * @param {ScoredMetric} metric
 */
function intervalPlot(metric) {
  const right = metric.upper ?? metric.histogram.edges[metric.histogram.edges.length - 1];
  const at = (/** @type {number} */ value) => percent(Math.min(Math.max(value / right, 0), 1));
  if (metric.value === null) return [];
  const [lower, upper] = metric.interval ?? [metric.value, metric.value];
  const plot = shape("svg", {class: "interval-plot", "aria-hidden": "true"},
    shape("line", {class: "axis", x1: "0", x2: "100%", y1: "50%", y2: "50%"}),
    ...[0, 0.25, 0.5, 0.75, 1].map((share) =>
      shape("line", {class: "axis", x1: percent(share), x2: percent(share), y1: "35%", y2: "65%"})),
    shape("line", {class: "extent", x1: at(lower), x2: at(upper), y1: "50%", y2: "50%"}),
    shape("line", {class: "point", x1: at(metric.value), x2: at(metric.value), y1: "12%", y2: "88%"}));
  const end = `${Number(right.toPrecision(4))}${metric.upper === null ? " (no limit)" : ""}`;
  return [element("div", {class: "plot"}, "0", plot, end)];
}

/** @param {ScoredMetric} metric */
function signature(metric) {
  // One element per part, so that lines break between parts; together they are the signature's text.
  const parts = (metric.signature.match(/[^|]+\|?/g) ?? []).map((part) => element("span", {}, part));
  const code = element("code", {}, ...parts);
  const button = element("button", {type: "button", "aria-label": `Copy the signature of ${metric.label}`}, "Copy");
  button.addEventListener("click", () => copy(code, button));
  return element("div", {}, code, button);
}

/**
 * Copies the element's text; where the browser forbids that, selects it for the reader to copy.
 * @param {HTMLElement} source
 * @param {HTMLButtonElement} button
 */
async function copy(source, button) {
  try {
    await navigator.clipboard.writeText(source.textContent ?? "");
    button.textContent = "Copied";
  } catch {
    getSelection()?.selectAllChildren(source);
    button.textContent = "Selected";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 1500);
}
