// The page of a comparison: reads its data, fills its sections, and stores the reader's choices.

import {gap} from "./compared.js";
import {Differences} from "./differences.js";
import {byId, carried, element, images, whole} from "./dom.js";
import {PairMap} from "./pairs.js";
import {photoNotes} from "./photos.js";
import {Scatter} from "./scatter.js";
import {showComparisonFacts, showSystems} from "./systems.js";

/** @type {ComparisonPage} */
const report = carried();

showComparisonFacts(report);
showSystems(report);

const {a, b} = report.pairs[report.first];
const chosen = {a, b, metric: report.lead};
const texts = report.images.map((image) =>
  [image.id, ...image.candidates.map((caption) => caption ?? ""), ...image.references].join("\n").toLowerCase());

/**
 * A list of names, in its label, that sets what is chosen.
 * @param {string} label
 * @param {string[]} names
 * @param {"a" | "b" | "metric"} field
 */
function choice(label, names, field) {
  const select = element("select", {change: () => { chosen[field] = Number(select.value); update(); }},
    ...names.map((name, number) => element("option", {value: number}, name)));
  return {select, label: element("label", {class: `control ${field}`}, `${label} `, select)};
}
const first = choice("across", report.systems, "a");
const second = choice("up", report.systems, "b");
const metricChoice = choice("by", report.metrics.map((metric) => metric.label), "metric");
byId("choice").append(first.label, second.label, metricChoice.label);

const search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false",
  placeholder: "id, candidates or references", input: () => updateImages()});
const order = element("select", {change: () => updateImages()});
const status = element("p", {class: "status", role: "status"});
byId("differences").append(...sampleNote(report), ...photoNotes(report), element("div", {class: "controls"},
  element("label", {class: "control", for: "search"}, "Search"), search,
  element("label", {class: "control"}, "Show ", order), status));

const map = new PairMap(report, choosePair);
const scatter = new Scatter(report);
const table = new Differences(report);
update();

/**
 * @param {number} row
 * @param {number} column
 */
function choosePair(row, column) {
  Object.assign(chosen, {a: report.pairs[row].a, b: report.pairs[row].b, metric: column});
  update();
}

/** Shows the systems and the metric chosen, in all sections. */
function update() {
  const row = report.pairs.findIndex((pair) =>
    (pair.a === chosen.a && pair.b === chosen.b) || (pair.a === chosen.b && pair.b === chosen.a));
  map.mark(row < 0 ? null : row, chosen.metric);
  first.select.value = String(chosen.a);
  second.select.value = String(chosen.b);
  metricChoice.select.value = String(chosen.metric);
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
  /** @type {Record<string, (gap: number | null) => boolean>} */
  const sides = {both: () => true, first: (gap) => gap !== null && gap > 0, second: (gap) => gap !== null && gap < 0,
    equal: (gap) => gap === 0};
  const gaps = x.map((score, number) => gap(score, y[number]));
  const found = texts.flatMap((text, number) =>
    (words.every((word) => text.includes(word)) && sides[order.value](gaps[number]) ? [number] : []));
  const size = (/** @type {number} */ number) => Math.abs(gaps[number] ?? -0) - Number(gaps[number] === null);
  const all = report.images.length;
  status.textContent = found.length === all ? images(all) : `${whole(found.length)} of ${images(all)}`;
  scatter.show(chosen, found.filter((number) => gaps[number] !== null));
  table.show(chosen, [...found].sort((p, q) => size(q) - size(p)));
}

/**
 * What a page with a part of the images says about that.
 * @param {ComparisonPage} report
 */
function sampleNote({images: shown, total, extremes, seed, metrics, lead}) {
  if (extremes === null) return [];
  return [element("p", {class: "note"},
    `This page holds ${whole(shown.length)} of the ${images(total)}: the ${whole(extremes)} on which the systems differ `
    + `most by ${metrics[lead].label}, and a random sample of the others (seed ${seed}). Scores, intervals and tests are `
    + "of all images.")];
}
