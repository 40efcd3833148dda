// Scores of the images by two systems, one point per image; the nearest point shows its captions.

import {systemCaption} from "./compared.js";
import {besidePhoto, referenceList} from "./details.js";
import {byId, element, images, shape, whole} from "./dom.js";
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
    /** For each metric the axes, as Python drew them. */
    this.frames = [...byId("frames").children];
    this.points = shape("g");
    this.box = element("div");
    this.ring = shape("circle", {class: "told", r: 6});
    this.tally = element("p", {class: "tally", role: "status"});
    this.frames.forEach((frame) => {
      frame.setAttribute("tabindex", "0");
      for (const event of ["pointermove", "pointerdown"]) {
        frame.addEventListener(event, (moved) => this.hover(/** @type {PointerEvent} */ (moved)));
      }
      frame.addEventListener("keydown", (event) => this.go(/** @type {KeyboardEvent} */ (event)));
    });
    this.svg = this.frames[0];
    this.details = element("div", {class: "point", "aria-live": "polite"});
    this.node = element("div", {class: "plot-and-point"}, element("figure", {}, this.box, this.tally), this.details);
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
    this.svg.classList.remove("scatter");
    this.svg = this.frames[metric];
    this.svg.classList.add("scatter");
    this.svg.setAttribute("aria-label",
      `${this.metric.label} of ${first} (across) and ${second} (up): ${told}. Arrow keys go from image to image.`);
    this.order = [...found].sort((p, q) => this.x[q] - this.y[q] - (this.x[p] - this.y[p]));
    const [up, across] = this.svg.querySelectorAll(".axis-label");
    [across.textContent, up.textContent] = [first, second].map((name) => (name.length > 40 ? `${name.slice(0, 39)}…` : name));
    this.box.replaceChildren(this.svg);
    this.svg.append(this.points);
    this.paint();
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
  place(number) {
    const [left, right, top, bottom] = (this.svg.getAttribute("data-box") ?? "").split(" ").map(Number);
    const {most} = this.metric;
    return [left + (right - left) * (this.x[number] / most), bottom + (top - bottom) * (this.y[number] / most)];
  }

  paint() {
    this.points.replaceChildren();
    SIDES.forEach((kind, side) => {
      const own = this.found.filter((number) => this.side(number) === side);
      for (let layer = 0; layer < Math.min(LAYERS, own.length); layer += 1) {
        const points = own.filter((_, place) => place % LAYERS === layer).map((number) => this.place(number));
        this.points.append(shape("path", {class: `points ${kind}`, "stroke-opacity": this.found.length > 1000 ? 0.45 : 0.75,
          d: points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("")}));
      }
    });
    this.points.append(this.ring);
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
    const box = this.svg.getBoundingClientRect();
    const unit = 400 / box.width; // the frame's width in its own units
    const [x, y] = [unit * (event.clientX - box.left), unit * (event.clientY - box.top)];
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
