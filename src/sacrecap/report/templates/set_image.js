// One image: the caption sets of the systems side by side, how similar their captions are, and what they are about.

import {besidePhoto, scoreList} from "./details.js";
import {element, images, shape} from "./dom.js";
import {inkOf, markOf, systemName} from "./marks.js";
import {photo} from "./photos.js";
import {label, path} from "./plot.js";

const MOST_CELLS = 40;

/**
 * What people say of an image, or systems where people say nothing.
 * @param {SetsPage} report
 * @param {SetsImage} image
 */
export function described(report, image) {
  const people = image.captions.filter((_, number) => report.systems[number].people);
  return people.flatMap((captions) => captions ?? []);
}

export class SetImage {
  /**
   * @param {SetsPage} report
   * @param {number} place the image's number on the page
   * @param {Set<number>} hidden
   */
  constructor(report, place, hidden) {
    const image = report.images[place];
    this.report = report;
    this.image = image;
    this.readout = element("p", {class: "readout", "aria-live": "polite"},
      "Point at a caption, a mark or a cell, or move to it with Tab: its counterparts are highlighted.");
    /**
     * Nodes that stand for a caption, by system and caption.
     * @type {Map<string, Element[]>}
     */
    this.parts = new Map();
    const shown = report.systems.map((_, number) => number).filter((number) => image.captions[number] && !hidden.has(number));
    const columns = shown.map((number) => this.column(number));
    this.node = element("div", {class: "set-image"},
      ...besidePhoto(photo(report, place, image.id, described(report, image), "large"),
        ...(image.drawn ? [element("div", {class: "overview"}, this.scaling(image.drawn, shown), this.readout)]
          : [element("p", {class: "legend"}, `Similarities, places and topics are on the page for ${images(report.drawn)} `
            + "only: the most and the least diverse, and those of --draw.")])),
      element("div", {class: "sets"}, ...columns));
  }

  /** @param {number} number */
  column(number) {
    const {image, report} = this;
    const figures = [{label: report.spread, score: image.diversity[number]},
      {label: report.accuracy, score: image.accuracy[number]}].flatMap(({label, score}) =>
      (label === null || score === null ? [] : [{label, score}]));
    return element("article", {class: "set"},
      element("h3", {}, systemName(report, number)), scoreList(figures),
      element("ol", {class: "captions"}, ...this.captions(number).map((text, place) => this.caption(number, text, place))),
      ...(image.drawn ? [...this.heatMap(image.drawn, number), ...this.topics(image.drawn, number)] : []));
  }

  /** @param {number} number */
  captions(number) { return this.image.captions[number] ?? []; }

  /**
   * @param {number} number
   * @param {string} text
   * @param {number} place
   */
  caption(number, text, place) {
    const item = element("li", {dir: "auto", tabindex: this.image.drawn ? "0" : null}, text || element("span", {class: "nothing"}, "empty caption"));
    return this.part(item, number, [place]);
  }

  /**
   * Links a node to the captions it stands for: looking at one shows the others.
   * @template {Element} Made
   * @param {Made} node
   * @param {number} number
   * @param {number[]} places
   * @param {string | null} text
   */
  part(node, number, places, text = null) {
    for (const place of places) {
      const name = `${number} ${place}`;
      this.parts.set(name, [...(this.parts.get(name) ?? []), node]);
    }
    for (const event of ["mouseenter", "focus"]) {
      node.addEventListener(event, () => this.look(number, places, true, text));
    }
    for (const event of ["mouseleave", "blur"]) {
      node.addEventListener(event, () => this.look(number, places, false, text));
    }
    return node;
  }

  /**
   * @param {number} number
   * @param {number[]} places
   * @param {boolean} on
   * @param {string | null} text
   */
  look(number, places, on, text) {
    for (const place of places) this.parts.get(`${number} ${place}`)?.forEach((node) => node.classList.toggle("looked", on));
    if (on && this.image.drawn) {
      this.readout.textContent = text ?? `${this.report.systems[number].name}: ${this.captions(number)[places[0]]}`;
    }
  }

  /**
   * All captions in one plane, near where they are similar.
   * @param {SetsDrawing} drawn
   * @param {number[]} shown
   */
  scaling({marks, share}, shown) {
    const size = 300;
    const reach = Math.max(...marks.flatMap(({x, y}) => [Math.abs(x), Math.abs(y)])) || 1;
    const at = (/** @type {number} */ value) => size / 2 + (value / reach) * (size / 2 - 22);
    const drawn = marks.filter((mark) => shown.includes(mark.system))
      .sort((one, other) => other.captions.length - one.captions.length)
      .map(({system: number, x, y, captions: places}) => {
        const system = this.report.systems[number];
        const repeats = places.length > 1 ? ` (${places.length} times)` : "";
        const text = `${system.name}: ${this.captions(number)[places[0]]}${repeats}`;
        const mark = markOf(system, at(x).toFixed(1), at(-y).toFixed(1), 5 * Math.sqrt(places.length),
          {tabindex: "0", role: "img", "aria-label": text});
        mark.append(shape("title", {}, text));
        return this.part(mark, number, places, text);
      });
    return element("figure", {class: "scaling"},
      element("figcaption", {class: "legend"}, `Captions by similarity: near is similar, a larger mark repeats. The plane shows `
        + `${(100 * share).toFixed(0)}% of the squared distances.`),
      shape("svg", {class: "plane", viewBox: `0 0 ${size} ${size}`, role: "group", "aria-label": "Captions by similarity"},
        shape("rect", {class: "frame", x: 0.5, y: 0.5, width: size - 1, height: size - 1}), ...drawn));
  }

  /**
   * Similarities of every two captions of a set.
   * @param {SetsDrawing} drawn
   * @param {number} number
   */
  heatMap(drawn, number) {
    const packed = drawn.similarities[number];
    if (!packed) return [];
    const count = this.captions(number).length;
    const shown = Math.min(count, MOST_CELLS);
    const between = (/** @type {number} */ i, /** @type {number} */ j) => packed[Math.min(i, j) * count - (Math.min(i, j) * (Math.min(i, j) - 1)) / 2 + Math.abs(i - j)] / 100;
    const cells = [];
    let sum = 0;
    for (let i = 0; i < shown; i += 1) {
      for (let j = 0; j < shown; j += 1) {
        if (i !== j) sum += between(i, j);
        cells.push(this.cell(number, i, j, between(i, j)));
      }
    }
    const mean = shown > 1 ? ` Mean of two different ones: ${(sum / (shown * (shown - 1))).toFixed(2)}.` : "";
    const part = shown < count ? ` The first ${shown} of ${count}.` : "";
    return [element("figure", {}, element("figcaption", {class: "legend"}, `Similarity of captions, 0 (pale) to 1.${mean}${part}`),
      shape("svg", {class: "heat-map", viewBox: `0 0 ${shown} ${shown}`, role: "img",
        "aria-label": `Similarity matrix of ${this.report.systems[number].name}.${mean}`}, ...cells))];
  }

  /**
   * @param {number} number
   * @param {number} i
   * @param {number} j
   * @param {number} value
   */
  cell(number, i, j, value) {
    const cell = shape("rect", {class: "cell", x: j + 0.04, y: i + 0.04, width: 0.92, height: 0.92,
      "fill-opacity": Math.min(Math.max(value, 0.04), 1)});
    return this.part(cell, number, i === j ? [i] : [i, j], `captions ${i + 1} and ${j + 1}: ${value.toFixed(2)}`);
  }

  /**
   * A radar of the leading topics, a line per caption, and the words of each topic.
   * @param {SetsDrawing} drawn
   * @param {number} number
   */
  topics(drawn, number) {
    const topics = drawn.topics[number];
    if (!topics) return [];
    const furthest = Math.max(...topics.flatMap((topic) => topic.loads.map(Math.abs))) || 1;
    const angle = (/** @type {number} */ spoke) => -Math.PI / 2 + (2 * Math.PI * spoke) / 5;
    /** @type {(spoke: number, share: number) => [number, number]} */
    const at = (spoke, share) => [100 + 78 * share * Math.cos(angle(spoke)), 100 + 78 * share * Math.sin(angle(spoke))];
    const ring = (/** @type {number} */ share) => closed("ring", [0, 1, 2, 3, 4].map((spoke) => at(spoke, share)));
    const colour = inkOf(this.report.systems[number]);
    const lines = this.captions(number).map((_, place) => this.part(
      closed("radar", [0, 1, 2, 3, 4].map((spoke) => at(spoke, Math.abs(topics[spoke]?.loads[place] ?? 0) / furthest)), colour),
      number, [place]));
    const numbers = [0, 1, 2, 3, 4].map((spoke) => {
      const [x, y] = at(spoke, 1.14);
      return label("tick", x, y + 4, String(spoke + 1), "middle");
    });
    const named = topics.map((topic) => element("li", {},
      element("bdi", {}, topic.words.map(({word, against}) => (against ? "−" : "") + word).join(", ") || "–"),
      element("span", {class: "legend"}, ` ${(100 * topic.share).toFixed(0)}%`)));
    return [element("figure", {}, element("figcaption", {class: "legend"},
      "Latent topics, without stop words: the length of a line is how much its caption is about the topic, or against it."),
    shape("svg", {class: "radar-chart", viewBox: "0 0 200 200", role: "img",
      "aria-label": `Captions of ${this.report.systems[number].name} over their topics`}, ring(0.5), ring(1), ...numbers, ...lines),
    element("ol", {class: "topics"}, ...named))];
  }
}

/**
 * @param {string} kind
 * @param {[number, number][]} points
 * @param {string | null} colour
 */
function closed(kind, points, colour = null) {
  const node = path(kind, points, colour);
  node.setAttribute("d", `${node.getAttribute("d")}Z`);
  if (colour) node.setAttribute("fill", colour);
  return node;
}
