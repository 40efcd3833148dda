// The page of caption sets: pictures, of which the reader hides systems, and the images in a list; a row opens to the sets of
// the systems side by side, how similar their captions are, and what they are about.

import {besidePhoto, carried, cell, drawing, element, head, hiddenSystems, hide, imageScore, images, listed, scoreList, shape}
  from "./common.js";

const MOST_CELLS = 40;

/** @type {SetsPage} */
const report = carried;

/** @param {number} number of a system, whose mark and name stand in one line */
const systemName = (number) => element("span", {class: "system", title: report.systems[number].name},
  shape("svg", {class: "key", viewBox: "-9 -9 18 18", "aria-hidden": "true"}, shape("use", {href: `#mark-${number}`})),
  element("bdi", {}, report.systems[number].name));
for (const heads of document.querySelectorAll("table.figures thead")) {
  heads.querySelectorAll("th").forEach((head, number) => head.replaceChildren(systemName(number)));
}
const everybody = report.systems.map((_, number) => number);
const systems = everybody.filter((number) => !report.systems[number].people);

/** @type {(number: number) => number[]} The diversity of the systems' captions of an image. */
const diverse = (number) => systems.flatMap((system) => report.images[number].diversity[system] ?? []);
const mean = (/** @type {number} */ number) => diverse(number).reduce((a, b) => a + b, 0) / diverse(number).length;
const apart = (/** @type {number} */ number) => Math.max(...diverse(number)) - Math.min(...diverse(number));
const orders = [
  ...(report.spread ? [{name: "least diverse first", value: mean, rising: true}, {name: "most diverse first", value: mean}] : []),
  ...(report.spread && systems.length > 1 ? [{name: "systems furthest apart first", value: apart}] : []),
  {name: "as in the file", value: () => 0},
];
const columns = () => (report.spread === null ? [] : everybody.filter((number) => !hiddenSystems.has(number)));
const list = listed({
  kind: "sets-of-images",
  caption: "Images, one row per image, with the diversity of each system’s captions; a row opens to them.",
  placeholder: "id or caption",
  // What people say of an image are its references.
  items: report.images.map((image) => {
    const said = (/** @type {boolean} */ people) => image.captions.flatMap((captions, system) =>
      (report.systems[system].people === people ? captions ?? [] : []));
    return {...image, candidates: said(false), references: said(true)};
  }),
  ordered: "Order",
  orders: () => orders,
  heads: () => [head(null, "Image"), ...columns().map((number) => head("score", systemName(number)))],
  cells: (number) => columns().map((column) => {
    const score = report.images[number].diversity[column];
    return cell("score", score === null ? "–" : imageScore(score));
  }),
  details: setImage,
});
document.getElementById("chooser")?.addEventListener("change", list.again);
list.update();

/**
 * The sets of an image, and an overview of them. Looking at one of the nodes that stand for a caption highlights the others.
 * @type {(place: number, large: HTMLElement[]) => HTMLElement[]}
 */
function setImage(place, large) {
  const image = report.images[place];
  const readout = element("p", {class: "readout", "aria-live": "polite"},
    "Point at a caption, a mark or a cell, or move to it with Tab: its counterparts are highlighted.");
  /** @type {Map<string, Element[]>} those that stand for a caption, by system and caption */
  const nodes = new Map();
  const drawn = drawing(place); // the plane, and two radars of each system
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

  const sets = everybody.filter((system) => image.captions[system] && !hiddenSystems.has(system)).map((system) => {
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
    return element("article", {class: "set"}, element("h3", {}, systemName(system)), scoreList(figures),
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
  if (drawn.length) hide(element("div", {}, drawn[0]));
  const overview = drawn.length ? element("div", {class: "overview"}, drawn[0], readout)
    : element("p", {class: "legend"}, `Similarities, places and topics are on the page for ${images(report.drawn)} only: the `
      + "most and the least diverse, and those of --draw.");
  return [element("div", {class: "set-image"}, ...besidePhoto(large, overview), element("div", {class: "sets"}, ...sets))];
}
