// The page of caption sets: pictures, of which the reader hides systems, and the images in a list; a row opens to the sets of
// the systems side by side, how similar their captions are, and what they are about.

import {besidePhoto, carried, cell, choice, drawing, element, fill, head, hiddenSystems, hide, imageScore, images, listed,
  photo, scoreList, shape, systemName, telling} from "./common.js";

const MOST_CELLS = 40;

/** @type {SetsPage} */
const report = await carried();

for (const heads of document.querySelectorAll("table.figures thead")) {
  heads.querySelectorAll("th").forEach((head, number) => head.replaceChildren(systemName(report, number)));
}
telling();
const hidden = hiddenSystems(() => list.again());
const everybody = report.systems.map((_, number) => number);

/**
 * Orders of the images: `sign` is 1 for the least value first, 0 for the order of the file.
 * @type {{name: string, value: (image: SetsImage) => number, sign: number}[]}
 */
const orders = [{name: "as in the file", value: () => 0, sign: 0}];
if (report.spread) {
  const own = (/** @type {SetsImage} */ image) =>
    image.diversity.filter((value, number) => value !== null && !report.systems[number].people).map(Number);
  const mean = (/** @type {SetsImage} */ image) => own(image).reduce((a, b) => a + b, 0) / own(image).length;
  const apart = (/** @type {SetsImage} */ image) => Math.max(...own(image)) - Math.min(...own(image));
  if (report.systems.filter((system) => !system.people).length > 1) {
    orders.unshift({name: "systems furthest apart first", value: apart, sign: -1});
  }
  orders.unshift({name: "least diverse first", value: mean, sign: 1}, {name: "most diverse first", value: mean, sign: -1});
}
const order = choice("Order", orders.map(({name}) => name), () => list.update());
const columns = () => (report.spread === null ? [] : everybody.filter((number) => !hidden.has(number)));
const list = listed({
  kind: "sets-of-images",
  caption: "Images, one row per image, with the diversity of each system’s captions; a row opens to them.",
  placeholder: "id or caption",
  texts: report.images.map((image) => [image.id, ...image.captions.flatMap((set) => set ?? [])].join("\n")),
  controls: [order.label],
  compare: (a, b) => {
    const {value, sign} = orders[order.number];
    return sign * (value(report.images[a]) - value(report.images[b]));
  },
  heads: () => [head(null, "Image"), ...columns().map((number) => head("score", systemName(report, number)))],
  row: (number) => {
    const image = report.images[number];
    const score = (/** @type {number | null} */ value) => (value === null ? "–" : imageScore(value));
    return {id: image.id, photo: photo(described(image), "row"),
      cells: columns().map((column) => cell("score", score(image.diversity[column])))};
  },
  details: (number) => [setImage(report.images[number], number)],
});
fill("images", [], ...list.blocks);
list.update();

/** @param {SetsImage} image which gets what people say of it as references: nothing where people say nothing */
function described(image) {
  const people = image.captions.filter((_, number) => report.systems[number].people);
  return {...image, references: people.flatMap((captions) => captions ?? [])};
}

/**
 * The sets of an image, at its place on the page. Looking at one of the nodes that stand for a caption highlights the others.
 * @type {(image: SetsImage, place: number) => HTMLElement}
 */
function setImage(image, place) {
  const readout = element("p", {class: "readout", "aria-live": "polite"},
    "Point at a caption, a mark or a cell, or move to it with Tab: its counterparts are highlighted.");
  /** @type {Map<string, Element[]>} those that stand for a caption, by system and caption */
  const nodes = new Map();
  /** @type {HTMLElement[]} the plane, and two radars of each system */
  const drawn = drawing(report, place).filter((figure) => figure instanceof HTMLElement);
  const captions = (/** @type {number} */ system) => image.captions[system] ?? [];
  /** The number of the look of a line or a mark. */
  const lookOf = (/** @type {Element} */ node) => Number(/look-(\d+)/.exec(node.getAttribute("class") ?? "")?.[1]);

  /**
   * Links a node to the captions it stands for.
   * @type {<Made extends Element>(node: Made, system: number, numbers: number[], text?: string | null) => Made}
   */
  const linked = (node, system, numbers, text = `${report.systems[system].name}: ${captions(system)[numbers[0]]}`) => {
    const names = numbers.map((number) => `${system} ${number}`);
    for (const name of names) nodes.set(name, [...(nodes.get(name) ?? []), node]);
    const look = (/** @type {boolean} */ on) => {
      for (const name of names) nodes.get(name)?.forEach((other) => other.classList.toggle("looked", on));
      if (on && drawn.length) readout.textContent = text;
    };
    for (const event of ["mouseenter", "focus"]) node.addEventListener(event, () => look(true));
    for (const event of ["mouseleave", "blur"]) node.addEventListener(event, () => look(false));
    return node;
  };

  const sets = everybody.filter((system) => image.captions[system] && !hidden.has(system)).map((system) => {
    const figures = [{label: report.spread, score: image.diversity[system]},
      {label: report.accuracy, score: image.accuracy[system]}].flatMap(({label, score}) =>
      (label === null || score === null ? [] : [{label, score}]));
    // A radar of the leading topics by each similarity, a line per caption.
    const topics = drawn.slice(1).filter((figure) => Number(figure.dataset.systems) === system);
    for (const line of topics.flatMap((figure) => [...figure.querySelectorAll(".closed")])) {
      linked(line, system, [lookOf(line)]);
    }
    const items = captions(system).map((text, number) => linked(element("li", {dir: "auto", tabindex: drawn.length ? "0" : null},
      text || element("span", {class: "nothing"}, "empty caption")), system, [number]));
    return element("article", {class: "set"}, element("h3", {}, systemName(report, system)), scoreList(figures),
      element("ol", {class: "captions"}, ...items), ...heatMap(system), ...topics);
  });

  /** @param {number} system the similarities of every two of whose captions are drawn */
  function heatMap(system) {
    const packed = image.similarities?.[system];
    if (!packed) return [];
    const count = captions(system).length;
    const places = Array.from({length: Math.min(count, MOST_CELLS)}, (_, number) => number);
    const pairs = places.flatMap((i) => places.map((j) => {
      const [least, most] = [Math.min(i, j), Math.max(i, j)];
      return {i, j, value: packed[least * count - (least * (least - 1)) / 2 + most - least] / 100};
    }));
    const different = pairs.filter(({i, j}) => i !== j);
    const sum = different.reduce((total, {value}) => total + value, 0);
    const mean = different.length ? ` Mean of two different ones: ${(sum / different.length).toFixed(2)}.` : "";
    const part = places.length < count ? ` The first ${places.length} of ${count}.` : "";
    const cells = pairs.map(({i, j, value}) => linked(shape("rect", {class: "cell", x: j + 0.04, y: i + 0.04, width: 0.92,
      height: 0.92, "fill-opacity": Math.min(Math.max(value, 0.04), 1)}), system, i === j ? [i] : [i, j],
    `captions ${i + 1} and ${j + 1}: ${value.toFixed(2)}`));
    return [element("figure", {}, element("figcaption", {class: "legend"}, `Similarity of captions, 0 (pale) to 1.${mean}${part}`),
      shape("svg", {class: "heat-map", viewBox: `0 0 ${places.length} ${places.length}`, role: "img",
        "aria-label": `Similarity matrix of ${report.systems[system].name}.${mean}`}, ...cells))];
  }

  for (const mark of drawn[0]?.querySelectorAll(".mark") ?? []) {
    linked(mark, lookOf(mark), (mark.getAttribute("data-captions") ?? "").split(" ").map(Number), mark.textContent);
  }
  if (drawn.length) hide(element("div", {}, drawn[0]), hidden);
  const overview = drawn.length ? element("div", {class: "overview"}, drawn[0], readout)
    : element("p", {class: "legend"}, `Similarities, places and topics are on the page for ${images(report.drawn)} only: the `
      + "most and the least diverse, and those of --draw.");
  return element("div", {class: "set-image"}, ...besidePhoto(photo(described(image), "large"), overview),
    element("div", {class: "sets"}, ...sets));
}
