// The images, first those in which the two systems differ most; rows open to the captions of all systems.

import {gap, systemCaption} from "./compared.js";
import {besidePhoto, referenceList} from "./details.js";
import {element, fill, imageScore, signed} from "./dom.js";
import {List} from "./list.js";
import {photo} from "./photos.js";
import {cell, head} from "./table.js";

/** Which images are shown, by the difference of their scores: all, one system's, the other's, equal ones. */
const SIDES = [
  () => true,
  (/** @type {number | null} */ more) => more !== null && more > 0,
  (/** @type {number | null} */ more) => more !== null && more < 0,
  (/** @type {number | null} */ more) => more === 0,
];

/**
 * The list, on the page; `shown` hears which images it shows that have a score by both systems.
 * @param {ComparisonPage} report
 * @param {import("./compared.js").Chosen} chosen
 * @param {{select: HTMLSelectElement, label: HTMLElement}} order
 * @param {(found: number[]) => void} shown
 */
export function comparedImages(report, chosen, order, shown) {
  const scores = (/** @type {number} */ system) => report.metrics[chosen.metric].scores[system];
  const more = (/** @type {number} */ number) => gap(scores(chosen.a)[number], scores(chosen.b)[number]);
  // Images without a score come last.
  const size = (/** @type {number} */ number) => Math.abs(more(number) ?? -0) - Number(more(number) === null);
  const list = new List({
    kind: "two",
    caption: "Images and their scores by both systems.",
    placeholder: "id, candidates or references",
    nothing: "No image matches. Search looks for every word in the id, the candidates and the references.",
    texts: report.images.map((image) =>
      [image.id, ...image.candidates.map((caption) => caption ?? ""), ...image.references].join("\n")),
    controls: [order.label],
    passes: (number) => SIDES[Number(order.select.value)](more(number)),
    compare: (a, b) => size(b) - size(a),
    shown: (found) => shown(found.filter((number) => more(number) !== null)),
    heads: () => [head(null, "Image"), head("caption", "Captions"), head("score", report.systems[chosen.a]),
      head("score", report.systems[chosen.b]), head("score", "Difference")],
    row: (number) => {
      const image = report.images[number];
      const caption = (/** @type {number} */ system, /** @type {string} */ side) =>
        element("p", {class: side}, image.candidates[system] ?? "");
      const difference = more(number);
      return {id: image.id, photo: photo(image, "row"), cells: [
        cell("caption", caption(chosen.a, "first"), caption(chosen.b, "second")),
        cell("score first", imageScore(scores(chosen.a)[number])),
        cell("score second", imageScore(scores(chosen.b)[number])),
        cell("score gap", difference === null ? "" : signed(difference))]};
    },
    details: (number) => {
      const image = report.images[number];
      return besidePhoto(photo(image, "large"),
        ...report.systems.map((_, system) => systemCaption(report, number, system, report.metrics[chosen.metric],
          system === chosen.a ? "first" : system === chosen.b ? "second" : null)),
        referenceList(image.references));
    },
  });
  fill("images", [], ...list.blocks);
  return list;
}
