// Histograms of the images' scores, one per metric; a click on a bar selects the images that the table shows.

import {Plot} from "./charts.js";
import {element, imageScore, images} from "./dom.js";

/** @typedef {(metric: ScoredMetric | null, bin: number) => void} Choose */

/**
 * The edges of a bin.
 * @param {ScoredMetric} metric
 * @param {number} bin
 */
const edges = ({panel: {marks}}, bin) => marks[bin].across ?? [0, 0];

/**
 * Whether a bin has a score: it holds its lower edge, the last bin its upper one too.
 * @param {ScoredMetric} metric
 * @param {number} bin
 * @param {number} score
 */
export function holds(metric, bin, score) {
  const [low, high] = edges(metric, bin);
  return (low <= score || bin === 0) && (score < high || bin === metric.panel.marks.length - 1);
}

/**
 * @param {ScoredMetric} metric
 * @param {number} bin
 */
export const rangeName = (metric, bin) => edges(metric, bin).join(" to ");

export class Histogram {
  /**
   * `choose(metric, bin)` is called for a bar, and with null when the bar chosen is chosen again.
   * @param {ScoredMetric} metric
   * @param {Choose} choose
   */
  constructor(metric, choose) {
    this.metric = metric;
    this.choose = choose;
    /** @type {number | null} */
    this.chosen = null;
    /** @type {SVGElement[]} */
    this.bars = [];
    this.readout = element("span", {class: "readout"});
    this.plot = new Plot(metric.panel, [], {title: `${metric.label}: images by score; arrow keys move between bars`,
      told: (node, item) => this.link(node, metric.panel.marks.indexOf(/** @type {Mark} */ (item)))});
    this.figure = element("figure", {class: "histogram", keydown: (event) => this.move(event),
      mouseleave: () => this.tell(this.chosen), focusout: (event) => this.left(event)},
    element("figcaption", {}, element("strong", {}, metric.label), this.readout), this.plot.box);
    this.tell(null);
  }

  /**
   * Makes a bar a button.
   * @param {SVGElement} node
   * @param {number} bin
   */
  link(node, bin) {
    this.bars[bin] = node;
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", bin ? "-1" : "0");
    node.setAttribute("aria-pressed", String(bin === this.chosen));
    node.addEventListener("click", () => this.press(bin));
    for (const event of ["mouseenter", "focus"]) node.addEventListener(event, () => this.tell(bin));
  }

  /**
   * Says what the bar holds, or, with none, the median and how many images have no score.
   * @param {number | null} bin
   */
  tell(bin) {
    const {panel: {marks}, median, unscored} = this.metric;
    this.readout.replaceChildren(bin === null
      ? `median ${imageScore(median)}${unscored ? ` · ${images(unscored)} without a score` : ""}`
      : `${rangeName(this.metric, bin)}: ${images(marks[bin].y)}`);
    if (bin !== null && bin === this.chosen) {
      this.readout.append(" · ", element("a", {href: "#images"}, "see them"));
    }
  }

  /** @param {FocusEvent} event */
  left(event) {
    // Not while the focus moves to the link in the readout: an update would replace the link.
    if (!this.figure.contains(/** @type {Node | null} */ (event.relatedTarget))) this.tell(this.chosen);
  }

  /** @param {number} bin */
  press(bin) {
    this.choose(bin === this.chosen ? null : this.metric, bin);
  }

  /**
   * Shows which bar is chosen.
   * @param {number | null} bin
   */
  mark(bin) {
    this.chosen = bin;
    this.bars.forEach((bar, number) => bar.setAttribute("aria-pressed", String(number === bin)));
    this.tell(bin);
  }

  /** @param {KeyboardEvent} event */
  move(event) {
    const at = this.bars.indexOf(/** @type {SVGElement} */ (event.target));
    if (at < 0) return;
    /** @type {Record<string, number>} */
    const ways = {ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: this.bars.length - 1};
    const to = ways[event.key];
    if (event.key === "Enter" || event.key === " ") this.press(at);
    else if (to === undefined) return;
    else if (this.bars[to]) this.focus(at, to);
    event.preventDefault();
  }

  /**
   * @param {number} from
   * @param {number} to
   */
  focus(from, to) {
    this.bars[from].setAttribute("tabindex", "-1");
    this.bars[to].setAttribute("tabindex", "0");
    this.bars[to].focus();
  }
}
