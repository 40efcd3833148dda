// Histograms of the images' scores, one per metric; a click on a bar selects the images that the table shows.

import {element, imageScore, images, percent, shape, whole} from "./dom.js";

/** @typedef {(metric: ScoredMetric | null, bin: number) => void} Choose */

/**
 * The bin of a score: it holds its lower edge, the last bin its upper one too.
 * @param {number} score
 * @param {number[]} edges
 */
export function binOf(score, edges) {
  let bin = edges.length - 2;
  while (bin > 0 && score < edges[bin]) bin -= 1;
  return bin;
}

/**
 * @param {ScoredMetric} metric
 * @param {number} bin
 */
export const rangeName = (metric, bin) => `${metric.histogram.edges[bin]} to ${metric.histogram.edges[bin + 1]}`;

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
    this.bars = metric.histogram.counts.map((count, bin) => this.bar(count, bin));
    this.bars[0].setAttribute("tabindex", "0");
    this.readout = element("span", {class: "readout"});
    this.figure = element("figure", {class: "histogram"},
      element("figcaption", {}, element("strong", {}, metric.label), this.readout),
      this.chart(), this.axis());
    this.tell(null);
  }

  chart() {
    const group = shape("svg", {class: "chart", role: "group", keydown: (event) => this.move(event),
      mouseleave: () => this.tell(this.chosen), focusout: (event) => this.left(event),
      "aria-label": `${this.metric.label}: images by score; arrow keys move between bars`},
      ...this.bars, ...this.corpusLine());
    const most = element("span", {class: "most", "aria-hidden": "true"}, whole(Math.max(...this.metric.histogram.counts)));
    return element("div", {class: "chart-box"}, most, group);
  }

  /**
   * A bar, and behind it a target of the chart's full height, so that low bars can be hit.
   * @param {number} count
   * @param {number} bin
   */
  bar(count, bin) {
    const {counts} = this.metric.histogram;
    const height = count / Math.max(...counts, 1);
    const place = {x: percent(bin / counts.length), width: percent(1 / counts.length)};
    const name = `${rangeName(this.metric, bin)}: ${images(count)}`;
    return shape("g", {class: "bar", role: "button", tabindex: "-1", "aria-pressed": "false", "aria-label": name,
      click: () => this.press(bin), mouseenter: () => this.tell(bin), focus: () => this.tell(bin)},
      shape("title", {}, name),
      shape("rect", {class: "target", ...place, y: "0", height: "100%"}),
      shape("rect", {class: "count", ...place, y: percent(1 - height), height: percent(height)}));
  }

  corpusLine() {
    const {edges} = this.metric.histogram;
    if (this.metric.value === null) return [];
    const share = (this.metric.value - edges[0]) / (edges[edges.length - 1] - edges[0]);
    const at = percent(Math.min(Math.max(share, 0), 1));
    return [shape("line", {class: "corpus", x1: at, x2: at, y1: "0", y2: "100%"})];
  }

  /** Round numbers below the bars. */
  axis() {
    const {edges, ticks} = this.metric.histogram;
    const [first, last] = [edges[0], edges[edges.length - 1]];
    return element("div", {class: "ticks", "aria-hidden": "true"}, ...ticks.map((tick) => {
      const label = element("span", {class: tick === last ? "end" : null}, String(tick));
      label.style.left = percent((tick - first) / (last - first));
      return label;
    }));
  }

  /**
   * Says what the bar holds, or, with none, the median and how many images have no score.
   * @param {number | null} bin
   */
  tell(bin) {
    const {histogram: {counts}, median, unscored} = this.metric;
    this.readout.replaceChildren(bin === null
      ? `median ${imageScore(median)}${unscored ? ` · ${images(unscored)} without a score` : ""}`
      : `${rangeName(this.metric, bin)}: ${images(counts[bin])}`);
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
    const at = this.bars.indexOf(/** @type {SVGGElement} */ (event.target));
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
