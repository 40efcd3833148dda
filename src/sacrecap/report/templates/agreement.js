// The page of an agreement with people: its list, and which judgments the reader chose.

import {SIDES, attributed, besidePhoto, carried, choice, element, head, listed, pairCells, referenceList, scoreList,
  whole} from "./common.js";

/** @type {AgreementPage} */
const report = carried;

/**
 * Which judgments are shown, by the gap between metric and people; `size` puts the largest disagreement first.
 * @type {[string, (gap: number) => boolean, (gap: number) => number][]}
 */
const views = report.pairs ? [
  ["where it is wrong, worst first", (gap) => gap < 0, (gap) => -gap],
  ["where it ties", (gap) => gap === 0, () => 0],
  ["where it is right, clearest first", (gap) => gap > 0, (gap) => gap],
] : [
  ["largest disagreement first", () => true, Math.abs],
  ["where it is above people", (gap) => gap > 0, (gap) => gap],
  ["where it is below people", (gap) => gap < 0, (gap) => -gap],
  ["where they agree, closest first", () => true, (gap) => -Math.abs(gap)],
];
const categories = [...new Set(report.items.map((item) => item.category))].filter(Boolean);
const byMetric = choice("Metric", report.metrics.map(({label}) => label), () => list.update());
const inCategory = choice("Category", ["all", ...categories], () => list.update());
const metric = () => report.metrics[byMetric.number];
const label = (/** @type {JudgedMetric} */ own) => `${own.turned ? "−" : ""}${own.label}`;

const list = listed({
  caption: "Judged captions, and their scores by the metric.",
  placeholder: "id, captions or references",
  items: report.items.map(({image, references, candidates, systems}) =>
    ({...report.images[image], references: report.references[references], candidates: [...candidates, ...systems]})),
  named: (count) => `${whole(count)} ${report.pairs ? "pairs" : "captions"}`,
  ordered: "Show",
  // A caption without a score has no place among the others.
  orders: () => views.map(([name, shows, size]) => {
    const {gaps} = metric();
    return {name, value: (number) => size(gaps[number] ?? 0), shows: (number) => gaps[number] !== null && shows(gaps[number])};
  }),
  controls: (order) => [byMetric.label, order, ...(categories.length > 1 ? [inCategory.label] : [])],
  passes: (number) => !inCategory.number || report.items[number].category === categories[inCategory.number - 1],
  heads: () => {
    const own = label(metric());
    const names = report.pairs ? [`${own}, chosen`, `${own}, other`, "Difference"] : ["People", own, "Disagreement"];
    return [head(null, "Image"), head("caption", report.pairs ? "Captions" : "Caption"),
      ...names.map((name) => head("score", name))];
  },
  cells: (number) => {
    const {candidates, mean} = report.items[number];
    const scores = metric().scores.map((column) => column[number]);
    const gap = metric().gaps[number] ?? 0;
    return pairCells(candidates, mean === null ? scores : [mean, ...scores], gap, report.pairs && gap <= 0);
  },
  details: (number, large) => {
    const item = report.items[number];
    const references = report.references[item.references];
    const candidates = item.candidates.map((candidate, place) => {
      const asked = report.pairs ? [place === 0 ? "people chose this" : "the other"] : [];
      const said = [...asked, item.people[place], item.systems[place] ?? ""].filter(Boolean).join(" · ");
      const scores = report.metrics.map((own) =>
        ({label: label(own), score: own.scores[place][number], looked: own === metric()}));
      return attributed(SIDES[place], [element("span", {class: "name"}, said)], candidate, references, scoreList(scores));
    });
    return besidePhoto(large, ...candidates, referenceList(references));
  },
});
list.update();
