// Histograms of the images' scores, one per metric; a click on a bar selects the images that the table shows.

import {element, imageScore, images} from "./dom.js";

/** @typedef {(metric: ScoredMetric | null, bin: number) => void} Choose */

export class Histogram {
  /**
   * `choose(metric, bin)` is called for a bar, and with null when the bar chosen is chosen again.
   * @param {HTMLElement} figure
   * @param {ScoredMetric} metric
   * @param {Choose} choose
   */
  constructor(figure, metric, choose) {
    this.figure = figure;
    this.metric = metric;
    this.choose = choose;
    /** @type {number | null} */
    this.chosen = null;
    this.readout = element("span", {class: "readout"});
    figure.querySelector("figcaption")?.append(this.readout);
    this.bars = [...figure.querySelectorAll(".bar")].filter((bar) => bar instanceof SVGElement);
    this.bars.forEach((bar, bin) => this.link(bar, bin));
    figure.addEventListener("keydown", (event) => this.move(event));
    figure.addEventListener("mouseleave", () => this.tell(this.chosen));
    figure.addEventListener("focusout", (event) => this.left(event));
    this.tell(null);
  }

  /**
   * The edges of a bin.
   * @param {number} bin
   */
  edges(bin) { return [Number(this.bars[bin].dataset.low), Number(this.bars[bin].dataset.high)]; }

  /**
   * Whether a bin has a score: it holds its lower edge, the last bin its upper one too.
   * @param {number} bin
   * @param {number} score
   */
  holds(bin, score) {
    const [low, high] = this.edges(bin);
    return (low <= score || bin === 0) && (score < high || bin === this.bars.length - 1);
  }

  /** @param {number} bin */
  range(bin) { return this.edges(bin).join(" to "); }

  /**
   * Makes a bar a button.
   * @param {SVGElement} node
   * @param {number} bin
   */
  link(node, bin) {
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", bin ? "-1" : "0");
    node.setAttribute("aria-pressed", "false");
    node.addEventListener("click", () => this.press(bin));
    for (const event of ["mouseenter", "focus"]) node.addEventListener(event, () => this.tell(bin));
  }

  /**
   * Says what the bar holds, or, with none, the median and how many images have no score.
   * @param {number | null} bin
   */
  tell(bin) {
    const {median, unscored} = this.metric;
    this.readout.replaceChildren(bin === null
      ? `median ${imageScore(median)}${unscored ? ` · ${images(unscored)} without a score` : ""}`
      : `${this.range(bin)}: ${images(Number(this.bars[bin].dataset.count))}`);
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
