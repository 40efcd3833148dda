// The images: search, order, pages, and rows that open to the caption sets.

import {choice, fill, imageScore} from "./dom.js";
import {List} from "./list.js";
import {photo} from "./photos.js";
import {systemName} from "./pictures.js";
import {SetImage, described} from "./set_image.js";
import {cell, head} from "./table.js";

/**
 * The list, on the page.
 * @param {SetsPage} report
 * @param {Set<number>} hidden
 */
export function setImages(report, hidden) {
  const orders = setOrders(report);
  const order = choice("Order", orders.map(({name}) => name), () => list.update());
  const columns = () => (report.spread === null ? []
    : report.systems.map((_, number) => number).filter((number) => !hidden.has(number)));
  const list = new List({
    kind: "sets-of-images",
    caption: "Images, one row per image, with the diversity of each system’s captions; a row opens to them.",
    placeholder: "id or caption",
    nothing: "No image matches. Search looks for every word in the id and the captions.",
    texts: report.images.map((image) => [image.id, ...image.captions.flatMap((set) => set ?? [])].join("\n")),
    controls: [order.label],
    compare: (a, b) => {
      const {value, sign} = orders[Number(order.select.value)];
      return sign * (value(report.images[a]) - value(report.images[b]));
    },
    heads: () => [head(null, "Image"), ...columns().map((number) => head("score", systemName(report, number)))],
    row: (number) => {
      const image = report.images[number];
      return {id: image.id, photo: photo({...image, references: described(report, image)}, "row"),
        cells: columns().map((column) => cell("score", scoreName(image.diversity[column])))};
    },
    details: (number) => [new SetImage(report, number, hidden).node],
  });
  fill("images", [], ...list.blocks);
  list.update();
  return list;
}

/** @param {number | null} value */
const scoreName = (value) => (value === null ? "–" : imageScore(value));

/**
 * Orders of the images: `sign` is 1 for the least value first, 0 for the order of the file.
 * @param {SetsPage} report
 * @returns {{name: string, value: (image: SetsImage) => number, sign: number}[]}
 */
function setOrders(report) {
  const file = {name: "as in the file", value: () => 0, sign: 0};
  if (!report.spread) return [file];
  const own = (/** @type {SetsImage} */ image) =>
    image.diversity.filter((value, number) => value !== null && !report.systems[number].people).map(Number);
  const mean = (/** @type {SetsImage} */ image) => own(image).reduce((a, b) => a + b, 0) / own(image).length;
  const apart = (/** @type {SetsImage} */ image) => Math.max(...own(image)) - Math.min(...own(image));
  return [
    {name: "least diverse first", value: mean, sign: 1},
    {name: "most diverse first", value: mean, sign: -1},
    ...(report.systems.filter((system) => !system.people).length > 1
      ? [{name: "systems furthest apart first", value: apart, sign: -1}] : []),
    file,
  ];
}
