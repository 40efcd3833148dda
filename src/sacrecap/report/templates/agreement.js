// The page of an agreement with people: reads its data, fills its sections, and stores the reader's choices.

import {Disputes} from "./disputes.js";
import {byId, carried, element, images, whole} from "./dom.js";
import {showFacts} from "./facts.js";
import {photoNotes} from "./photos.js";

/** @type {AgreementPage} */
const report = carried();
const judgments = report.pairs ? "pairs" : "captions";

showFacts(report, [
  ["Data set", report.dataset],
  [report.pairs ? "Decided pairs" : "Rated captions", whole(report.total)],
  ["Images", whole(report.pictured)],
  ["Documents", report.documents],
]);
byId("scores").append(element("table", {class: "agreement"},
  element("thead", {}, element("tr", {}, ...report.heads.map((head) => element("th", {scope: "col"}, head)))),
  element("tbody", {}, ...report.table.map(([name, ...cells], row) =>
    element("tr", {class: row < report.table.length - 1 || name !== "people" ? null : "people"},
      element("th", {scope: "row"}, name), ...cells.map((cell) => element("td", {}, cell)))))));
byId("scores-notes").append(...report.notes.map((note) => element("p", {class: "legend"}, note)));

/**
 * Which judgments are shown, by the gap between metric and people; `size` puts the largest disagreement first.
 * @typedef {{name: string, shows: (gap: number) => boolean, size: (gap: number) => number}} View
 */

/** @type {View[]} */
const views = report.pairs ? [
  {name: "where it is wrong, worst first", shows: (gap) => gap < 0, size: (gap) => -gap},
  {name: "where it ties", shows: (gap) => gap === 0, size: () => 0},
  {name: "where it is right, clearest first", shows: (gap) => gap > 0, size: (gap) => gap},
] : [
  {name: "largest disagreement first", shows: () => true, size: Math.abs},
  {name: "where it is above people", shows: (gap) => gap > 0, size: (gap) => gap},
  {name: "where it is below people", shows: (gap) => gap < 0, size: (gap) => -gap},
  {name: "where they agree, closest first", shows: () => true, size: (gap) => -Math.abs(gap)},
];
const texts = report.items.map((item) => [report.images[item.image], ...item.candidates, ...item.systems,
  ...report.references[item.references]].join("\n").toLowerCase());
const categories = [...new Set(report.items.map((item) => item.category))].filter(Boolean);

/** @param {string[]} names */
const select = (names) => element("select", {change: update},
  ...names.map((name, number) => element("option", {value: number}, name)));
const metric = select(report.metrics.map(({label}) => label));
const view = select(views.map(({name}) => name));
const category = select(["all", ...categories]);
const search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false",
  placeholder: "id, captions or references", input: update});
const status = element("p", {class: "status", role: "status"});
const chooser = (/** @type {string} */ label, /** @type {HTMLSelectElement} */ choice) =>
  element("label", {class: "control"}, `${label} `, choice);

const against = report.count === null ? "" : `, against ${whole(report.count)} references`;
byId("images-legend").textContent = (report.pairs
  ? "The caption that people chose is blue. The metric is wrong if it gives the other caption the higher score"
  : "Disagreement is the caption’s place among all captions by the metric, from 0 (lowest) to 1, minus its place by people")
  + `${against}.`;
byId("disputes").append(...sampleNote(), ...photoNotes(report), element("div", {class: "controls"},
  element("label", {class: "control", for: "search"}, "Search"), search,
  chooser("Metric", metric), chooser("Show", view), ...(categories.length > 1 ? [chooser("Category", category)] : []),
  status));
const table = new Disputes(report);
update();

/** Shows the judgments that have every word searched for and are of the kind chosen, in the order chosen. */
function update() {
  const shown = report.metrics[Number(metric.value)];
  const {shows, size} = views[Number(view.value)];
  const kind = categories[Number(category.value) - 1];
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  // A caption without a score has no place among the others.
  const gaps = shown.gaps.map((gap) => gap ?? NaN);
  const found = texts.flatMap((text, number) =>
    (!Number.isNaN(gaps[number]) && shows(gaps[number]) && (kind === undefined || report.items[number].category === kind)
      && words.every((word) => text.includes(word)) ? [number] : []));
  status.textContent = `${whole(found.length)} of ${whole(texts.length)} ${judgments}`;
  table.show(shown, found.sort((p, q) => size(gaps[q]) - size(gaps[p])));
}

/** What a page with a part of the judgments says about that. */
function sampleNote() {
  if (report.extremes === null) return [];
  return [element("p", {class: "note"},
    `This page holds ${whole(report.items.length)} of the ${whole(report.total)} ${judgments} of ${images(report.pictured)}: `
    + `the ${whole(report.extremes)} on which a metric and people disagree most, and a random sample of the others (seed ${
      report.seed}). The table above is of all of them.`)];
}
