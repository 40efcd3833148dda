// Scores of the images by two systems, one point per image; the nearest point shows its captions.

import {Plot, path, shortened} from "./charts.js";
import {systemCaption} from "./compared.js";
import {besidePhoto, referenceList} from "./details.js";
import {element, images, shape, whole} from "./dom.js";
import {photo} from "./photos.js";

const REACH = 24; // pixels within which a point is the nearest
const LAYERS = 40; // points in one layer do not add up where they overlap, but points of several do
const SIDES = ["second", "equal", "first"]; // which system is better, by the sign of the difference, from −1

export class Scatter {
  /** @param {ComparisonPage} report */
  constructor(report) {
    this.report = report;
    this.a = 0;
    this.b = 0;
    this.metric = report.metrics[0];
    /** @type {number[]} */
    this.x = [];
    /** @type {number[]} */
    this.y = [];
    /** @type {number[]} */
    this.found = [];
    /** @type {number[]} */
    this.order = [];
    /** @type {number | undefined} */
    this.told = undefined;
    /** @type {Panel} */
    this.panel = {kind: "plot", title: "", x: this.metric.axis, y: this.metric.axis, lines: [], marks: [], below: ""};
    this.plot = new Plot(this.panel, [], {title: "", more: () => this.paint(), square: true});
    const {svg} = this.plot;
    for (const [name, value] of Object.entries({class: "plot2 scatter", role: "img", tabindex: "0"})) {
      svg.setAttribute(name, value);
    }
    svg.addEventListener("pointermove", (event) => this.hover(event));
    svg.addEventListener("pointerdown", (event) => this.hover(event));
    svg.addEventListener("keydown", (event) => this.go(event));
    this.ring = shape("circle", {class: "told", r: 6});
    this.tally = element("p", {class: "tally", role: "status"});
    this.details = element("div", {class: "point", "aria-live": "polite"});
    this.node = element("div", {class: "plot-and-point"}, element("figure", {}, this.plot.box, this.tally), this.details);
  }

  /**
   * Shows two systems and a metric, by number; `found` are the numbers of the images that the search left and that
   * have a score.
   * @param {{a: number, b: number, metric: number}} chosen
   * @param {number[]} found
   */
  show({a, b, metric}, found) {
    Object.assign(this, {a, b, metric: this.report.metrics[metric], found});
    // Images without a score are not among those found.
    [this.x, this.y] = [a, b].map((system) => this.metric.scores[system].map((score) => score ?? 0));
    const counts = [0, 0, 0];
    found.forEach((number) => { counts[this.side(number)] += 1; });
    const [first, second] = [this.report.systems[a], this.report.systems[b]];
    const told = `${first} better on ${images(counts[2])}, ${second} on ${whole(counts[0])}, equal on ${whole(counts[1])}`;
    this.tally.textContent = told;
    this.plot.svg.setAttribute("aria-label",
      `${this.metric.label} of ${first} (across) and ${second} (up): ${told}. Arrow keys go from image to image.`);
    this.order = [...found].sort((p, q) => this.x[q] - this.y[q] - (this.x[p] - this.y[p]));
    const most = Math.floor(this.plot.box.clientWidth / 9);
    [this.panel.x, this.panel.y] = [first, second].map((name) => ({...this.metric.axis, label: shortened(name, most)}));
    this.plot.draw();
    this.tell(this.told !== undefined && new Set(found).has(this.told) ? this.told : this.order[0]);
  }

  /**
   * Which system is better: 2 for the first, 0 for the second.
   * @param {number} number
   */
  side(number) { return Math.sign(this.x[number] - this.y[number]) + 1; }

  /**
   * @param {number} number
   * @returns {[number, number]}
   */
  place(number) { return this.plot.at(this.x[number], this.y[number]); }

  paint() {
    const {plot} = this;
    const {ends} = this.metric.axis;
    plot.put(path("axis", ends.map((end) => plot.at(end, end))));
    SIDES.forEach((kind, side) => {
      const own = this.found.filter((number) => this.side(number) === side);
      for (let layer = 0; layer < Math.min(LAYERS, own.length); layer += 1) {
        const points = own.filter((_, place) => place % LAYERS === layer).map((number) => this.place(number));
        plot.put(shape("path", {class: `points ${kind}`, "stroke-opacity": this.found.length > 1000 ? 0.45 : 0.75,
          d: points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("")}));
      }
    });
    plot.put(this.ring);
    this.mark();
  }

  /** Puts the ring around the image told of. */
  mark() {
    this.ring.toggleAttribute("hidden", this.told === undefined);
    if (this.told === undefined) return;
    const [x, y] = this.place(this.told);
    this.ring.setAttribute("cx", String(x));
    this.ring.setAttribute("cy", String(y));
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const box = this.plot.svg.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [nearest, least] = [-1, REACH ** 2];
    for (const number of this.found) {
      const [px, py] = this.place(number);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least) [nearest, least] = [number, distance];
    }
    if (nearest !== -1 && nearest !== this.told) this.tell(nearest);
  }

  /**
   * The arrow keys go through the images from the first system's best to the second's.
   * @param {KeyboardEvent} event
   */
  go(event) {
    /** @type {Record<string, number>} */
    const ways = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
    if (!(event.key in ways) || this.told === undefined) return;
    const to = this.order[this.order.indexOf(this.told) + ways[event.key]];
    if (to === undefined) return;
    event.preventDefault();
    this.tell(to);
  }

  /** @param {number | undefined} number */
  tell(number) {
    this.told = number;
    this.mark();
    if (number === undefined) {
      this.details.replaceChildren(element("p", {class: "nothing"}, "No image matches."));
      return;
    }
    const image = this.report.images[number];
    this.details.replaceChildren(element("h3", {}, image.id), ...besidePhoto(
      photo(image),
      ...[{side: "first", system: this.a}, {side: "second", system: this.b}].map(({side, system}) =>
        systemCaption(this.report, number, system, this.metric, side)),
      referenceList(image.references)));
  }
}
