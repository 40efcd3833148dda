// The page of an agreement with people: its pictures, its list, and which judgments the reader chose.

import {attributed, besidePhoto, carried, cell, choice, element, fill, head, hiddenSystems, imageScore, listed, photo,
  referenceList, scoreList, signed, telling, whole} from "./common.js";

const SIDES = ["first", "second"];

/** @type {AgreementPage} */
const report = await carried();
const judgments = report.pairs ? "pairs" : "captions";

/**
 * Which judgments are shown, by the gap between metric and people; `size` puts the largest disagreement first.
 * @type {{name: string, shows: (gap: number) => boolean, size: (gap: number) => number}[]}
 */
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
const update = () => list.update();
const byMetric = choice("Metric", report.metrics.map(({label}) => label), update);
const view = choice("Show", views.map(({name}) => name), update);
const inCategory = choice("Category", ["all", ...categories], update);
const metric = () => report.metrics[byMetric.number];
const label = (/** @type {JudgedMetric} */ own) => `${own.turned ? "−" : ""}${own.label}`;
const pictured = (/** @type {JudgedItem} */ item, /** @type {"row" | "large"} */ kind) =>
  photo({...report.images[item.image], references: report.references[item.references]}, kind);
const size = (/** @type {number} */ number) => views[view.number].size(metric().gaps[number] ?? 0);

const list = listed({
  caption: "Judged captions, and their scores by the metric.",
  placeholder: "id, captions or references",
  texts: report.items.map((item) => [report.images[item.image].id, ...item.candidates, ...item.systems,
    ...report.references[item.references]].join("\n")),
  named: (count) => `${whole(count)} ${judgments}`,
  controls: [byMetric.label, view.label, ...(categories.length > 1 ? [inCategory.label] : [])],
  // A caption without a score has no place among the others.
  passes: (number) => {
    const gap = metric().gaps[number];
    const category = categories[inCategory.number - 1] ?? report.items[number].category;
    return gap !== null && views[view.number].shows(gap) && report.items[number].category === category;
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

telling();
hiddenSystems();
fill("images", [], ...list.blocks);
list.update();
