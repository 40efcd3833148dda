// The page of an agreement with people: its pictures, its list, and which judgments the reader chose.

import {List, attributed, besidePhoto, carried, cell, choice, element, fill, head, hiddenSystems, imageScore, photo,
  referenceList, scoreList, signed, telling, whole} from "./common.js";

const SIDES = ["first", "second"];

/** @type {AgreementPage} */
const report = await carried();
const judgments = report.pairs ? "pairs" : "captions";

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
const categories = [...new Set(report.items.map((item) => item.category))].filter(Boolean);
const chosen = {metric: 0, view: 0, category: 0};
const choices = [
  choice("Metric", report.metrics.map(({label}) => label), (number) => { chosen.metric = number; list.update(); }),
  choice("Show", views.map(({name}) => name), (number) => { chosen.view = number; list.update(); }),
  choice("Category", ["all", ...categories], (number) => { chosen.category = number; list.update(); }),
];
const metric = () => report.metrics[chosen.metric];
const label = (/** @type {JudgedMetric} */ own) => `${own.turned ? "−" : ""}${own.label}`;
const size = (/** @type {number} */ number) => views[chosen.view].size(metric().gaps[number] ?? 0);

const list = new List({
  caption: "Judged captions, and their scores by the metric.",
  placeholder: "id, captions or references",
  texts: report.items.map((item) => [report.images[item.image].id, ...item.candidates, ...item.systems,
    ...report.references[item.references]].join("\n")),
  named: (count) => `${whole(count)} ${judgments}`,
  controls: choices.slice(0, categories.length > 1 ? 3 : 2).map((one) => one.label),
  // A caption without a score has no place among the others.
  passes: (number) => {
    const gap = metric().gaps[number];
    const category = categories[chosen.category - 1] ?? report.items[number].category;
    return gap !== null && views[chosen.view].shows(gap) && report.items[number].category === category;
  },
  compare: (a, b) => size(b) - size(a),
  heads: () => {
    const own = label(metric());
    const names = report.pairs ? [`${own}, chosen`, `${own}, other`, "Difference"] : ["People", own, "Disagreement"];
    return [head(null, "Image"), head("caption", report.pairs ? "Captions" : "Caption"),
      ...names.map((name) => head("score", name))];
  },
  row: (number) => {
    const item = report.items[number];
    const {scores, gaps} = metric();
    const [first, second] = item.mean === null ? [scores[0][number], scores[1][number]] : [item.mean, scores[0][number]];
    const gap = gaps[number] ?? 0;
    return {id: report.images[item.image].id, photo: pictured(item, "row"), cells: [
      cell("caption", ...item.candidates.map((candidate, place) => element("p", {class: SIDES[place]}, candidate))),
      cell("score first", imageScore(first)),
      cell("score second", imageScore(second)),
      cell(report.pairs && gap <= 0 ? "score gap wrong" : "score gap", signed(gap))]};
  },
  details: (number) => {
    const item = report.items[number];
    const references = report.references[item.references];
    const candidates = item.candidates.map((candidate, place) => {
      const asked = report.pairs ? [place === 0 ? "people chose this" : "the other"] : [];
      const said = [...asked, item.people[place], item.systems[place] ?? ""].filter(Boolean).join(" · ");
      const scores = report.metrics.map((own) =>
        ({label: label(own), score: own.scores[place][number], looked: own === metric()}));
      return attributed(SIDES[place], [element("span", {class: "name"}, said)], candidate, references, scoreList(scores));
    });
    return besidePhoto(pictured(item, "large"), ...candidates, referenceList(references));
  },
});

telling(document);
hiddenSystems();
fill("images", [], ...list.blocks);
list.update();

/**
 * @param {JudgedItem} item
 * @param {string} kind
 */
function pictured(item, kind) {
  return photo({...report.images[item.image], references: report.references[item.references]}, kind);
}
