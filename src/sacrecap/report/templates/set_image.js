// One image: the caption sets of the systems side by side, how similar their captions are, and what they are about.

import {besidePhoto, scoreList} from "./details.js";
import {element, images, shape} from "./dom.js";
import {photo} from "./photos.js";
import {hide, systemName} from "./pictures.js";

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
    const template = document.getElementById(`drawing-${place}`);
    /** The plane, and two radars of each system. */
    this.drawn = template instanceof HTMLTemplateElement
      ? [...document.importNode(template.content, true).querySelectorAll("figure")] : [];
    const shown = report.systems.map((_, number) => number).filter((number) => image.captions[number] && !hidden.has(number));
    const columns = shown.map((number) => this.column(number));
    this.node = element("div", {class: "set-image"},
      ...besidePhoto(photo({...image, references: described(report, image)}, "large"),
        ...(this.drawn.length ? [element("div", {class: "overview"}, this.scaling(hidden), this.readout)]
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
      ...this.heatMap(image.similarities?.[number], number), ...this.topics(number));
  }

  /** @param {number} number */
  captions(number) { return this.image.captions[number] ?? []; }

  /**
   * @param {number} number
   * @param {string} text
   * @param {number} place
   */
  caption(number, text, place) {
    const item = element("li", {dir: "auto", tabindex: this.drawn.length ? "0" : null}, text || element("span", {class: "nothing"}, "empty caption"));
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
    if (on && this.drawn.length) {
      this.readout.textContent = text ?? `${this.report.systems[number].name}: ${this.captions(number)[places[0]]}`;
    }
  }

  /**
   * All captions in one plane, near where they are similar.
   * @param {Set<number>} hidden
   */
  scaling(hidden) {
    const [plane] = this.drawn;
    for (const node of plane.querySelectorAll(".mark")) {
      const places = (node.getAttribute("data-captions") ?? "").split(" ").map(Number);
      this.part(node, lookOf(node), places, node.textContent);
    }
    hide(element("div", {}, plane), hidden);
    return plane;
  }

  /**
   * Similarities of every two captions of a set.
   * @param {number[] | null | undefined} packed
   * @param {number} number
   */
  heatMap(packed, number) {
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
   * A radar of the leading topics by each similarity, a line per caption.
   * @param {number} number
   */
  topics(number) {
    const own = this.drawn.slice(1).filter((figure) => Number(figure.dataset.systems) === number);
    for (const node of own.flatMap((figure) => [...figure.querySelectorAll(".closed")])) {
      this.part(node, number, [lookOf(node)]);
    }
    return own;
  }
}

/**
 * The number of the look of a line or a mark.
 * @param {Element} node
 */
const lookOf = (node) => Number(/look-(\d+)/.exec(node.getAttribute("class") ?? "")?.[1]);
