// The images of one system: a column per metric to sort by, and rows that open to what explains the scores.

import {besidePhoto, markedCandidate, referenceList, scoreList} from "./details.js";
import {element, fill, imageScore, legend} from "./dom.js";
import {List} from "./list.js";
import {photo} from "./photos.js";
import {cell} from "./table.js";

/**
 * What the list can be sorted by; `orders` names the ascending and the descending order, `scores` are a metric's.
 * @typedef {{label: string, kind: string, orders: string[], compare: (a: number, b: number) => number,
 *   scores?: (number | null)[]}} Column
 */

/**
 * The list, on the page.
 * @param {ScorePage} report
 * @param {HTMLButtonElement} chip removes the filter
 * @param {(number: number) => boolean} passes
 */
export function scoredImages(report, chip, passes) {
  const columns = columnsOf(report);
  let column = columns[2 + report.lead];
  let descending = true;
  const sort = (/** @type {Column} */ by, /** @type {boolean} */ down) => {
    [column, descending] = [by, down];
    select.value = `${columns.indexOf(column)} ${Number(descending)}`;
    list.update();
  };
  const select = element("select", {change: () => {
    const [number, down] = select.value.split(" ").map(Number);
    sort(columns[number], down === 1);
  }}, ...columns.flatMap(({label, orders}, number) => orders.map((name, down) =>
    element("option", {value: `${number} ${down}`}, `${label}, ${name}`))));
  const heads = columns.map((own) => element("th", {scope: "col", role: "columnheader", class: own.kind},
    element("button", {type: "button", click: () =>
      sort(own, own === column ? !descending : own.kind === "score")}, own.label)));
  // The column sorted by, or the lead metric's, is the one score column that narrow screens show.
  const marked = () => (column.kind === "score" ? column : columns[2 + report.lead]);
  const lacks = (/** @type {number} */ number) => Number(column.scores?.[number] === null);

  const list = new List({
    kind: report.metrics.length > 12 ? "wide" : "",
    caption: "Scores of the images, one row per image; a row opens to its references.",
    placeholder: "id, candidate or references",
    nothing: "No image matches. Search looks for every word in the id, the candidate and the references.",
    texts: report.images.map(({id, candidates, references}) => [id, candidates[0] ?? "", ...references].join("\n")),
    most: 50,
    controls: [element("label", {class: "control sort"}, "Sort by ", select), chip],
    passes,
    // Images without a score come last in either direction; equal ones stay in the corpus's order.
    compare: (a, b) => lacks(a) - lacks(b) || (descending ? -1 : 1) * column.compare(a, b),
    heads: () => heads.map((head, number) => {
      const direction = descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", columns[number] === column ? direction : "none");
      head.classList.toggle("marked", columns[number] === marked());
      return head;
    }),
    row: (number) => {
      const image = report.images[number];
      return {id: image.id, photo: photo(image, "row"),
        cells: [cell("caption", image.candidates[0] ?? ""), ...report.metrics.map(({scores}) =>
          cell(scores === marked().scores ? "score marked" : "score", imageScore(scores[number])))]};
    },
    details: (number) => {
      const image = report.images[number];
      return [...besidePhoto(photo(image, "large"), markedCandidate(image.candidates[0], image.references),
        referenceList(image.references)), ...figures(report, number),
      scoreList(report.metrics.map(({label, scores}) => ({label, score: scores[number]})))];
    },
  });
  fill("images", [], ...list.blocks);
  sort(column, true);
  return list;
}

/**
 * @param {ScorePage} report
 * @returns {Column[]}
 */
function columnsOf(report) {
  const collator = new Intl.Collator("en", {numeric: true});
  /** @type {(label: string, kind: string, value: (image: PageImage) => string) => Column} */
  const text = (label, kind, value) => ({label, kind, orders: ["A to Z", "Z to A"],
    compare: (a, b) => collator.compare(value(report.images[a]), value(report.images[b]))});
  return [
    text("Image", "id", (image) => image.id),
    text("Candidate", "caption", (image) => image.candidates[0] ?? ""),
    ...report.metrics.map(({label, scores}) => ({label, kind: "score", orders: ["lowest first", "highest first"], scores,
      compare: (/** @type {number} */ a, /** @type {number} */ b) => (scores[a] ?? 0) - (scores[b] ?? 0)})),
  ];
}

/**
 * The figures that explain the scores of the image of this number, or which images have them.
 * @param {ScorePage} report
 * @param {number} number
 */
function figures({unexplained}, number) {
  const drawn = document.getElementById(`drawing-${number}`);
  if (drawn instanceof HTMLTemplateElement) return [drawn.content.cloneNode(true)];
  return unexplained ? [legend(unexplained)] : [];
}
