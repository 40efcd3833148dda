// Scores of the images by two systems, one point per image, on one canvas; the nearest point shows its captions.

import {systemCaption} from "./compared.js";
import {besidePhoto, referenceList} from "./details.js";
import {element, images, whole} from "./dom.js";
import {photo} from "./photos.js";
import {roundStep} from "./steps.js";

const MARGIN = {left: 44, right: 10, top: 10, bottom: 38};
const RADIUS = 3;
const REACH = 24; // pixels within which a point is the nearest

/** @typedef {(name: string) => string} Colour */

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
    this.step = 1;
    this.end = 1;
    this.area = {width: 0, height: 0};
    this.canvas = element("canvas", {class: "scatter", role: "img", tabindex: "0",
      pointermove: (event) => this.hover(event), pointerdown: (event) => this.hover(event),
      keydown: (event) => this.go(event)});
    this.tally = element("p", {class: "tally", role: "status"});
    this.details = element("div", {class: "point", "aria-live": "polite"});
    this.node = element("div", {class: "plot-and-point"}, element("figure", {}, this.canvas, this.tally), this.details);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /**
   * Shows two systems and a metric, by number; `found` are the numbers of the images that the search left and that
   * have a score.
   * @param {{a: number, b: number, metric: number}} chosen
   * @param {number[]} found
   */
  show({a, b, metric}, found) {
    Object.assign(this, {a, b, metric: this.report.metrics[metric]});
    // Images without a score are not among those found.
    [this.x, this.y] = [a, b].map((system) => this.metric.scores[system].map((score) => score ?? 0));
    this.found = found;
    const most = Math.max(...this.x.map((x, number) => Math.max(x, this.y[number])));
    this.step = roundStep((most > 0 ? most : 1) / 6, [1, 2, 5]);
    this.end = this.step * Math.max(Math.ceil((most - 1e-9) / this.step), 1);
    const counts = [0, 0, 0];
    found.forEach((number) => { counts[Math.sign(this.x[number] - this.y[number]) + 1] += 1; });
    const [first, second] = [this.report.systems[a], this.report.systems[b]];
    const told = `${first} better on ${images(counts[2])}, ${second} on ${whole(counts[0])}, equal on ${whole(counts[1])}`;
    this.tally.textContent = told;
    this.canvas.setAttribute("aria-label",
      `${this.metric.label} of ${first} (across) and ${second} (up): ${told}. Arrow keys go from image to image.`);
    this.order = [...found].sort((p, q) => this.x[q] - this.y[q] - (this.x[p] - this.y[p]));
    this.tell(this.told !== undefined && new Set(found).has(this.told) ? this.told : this.order[0]);
  }

  /**
   * @param {number} number
   * @returns {[number, number]}
   */
  place(number) {
    const {width, height} = this.area;
    return [MARGIN.left + (this.x[number] / this.end) * width, MARGIN.top + (1 - this.y[number] / this.end) * height];
  }

  draw() {
    const {clientWidth, clientHeight} = this.canvas;
    if (!clientWidth || !this.x.length) return;
    const scale = devicePixelRatio;
    [this.canvas.width, this.canvas.height] = [clientWidth * scale, clientHeight * scale];
    this.area = {width: clientWidth - MARGIN.left - MARGIN.right, height: clientHeight - MARGIN.top - MARGIN.bottom};
    const pen = this.canvas.getContext("2d");
    if (!pen) return;
    pen.scale(scale, scale);
    const styles = getComputedStyle(document.documentElement);
    const colour = (/** @type {string} */ name) => styles.getPropertyValue(name).trim();
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    this.axes(pen, colour);
    pen.globalAlpha = this.found.length > 1000 ? 0.45 : 0.75;
    for (const number of this.found) {
      const sign = Math.sign(this.x[number] - this.y[number]);
      pen.fillStyle = colour(sign > 0 ? "--first" : sign < 0 ? "--second" : "--soft");
      this.dot(pen, number, RADIUS);
      pen.fill();
    }
    pen.globalAlpha = 1;
    if (this.told !== undefined) {
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 2;
      this.dot(pen, this.told, RADIUS + 3);
      pen.stroke();
    }
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {number} number
   * @param {number} radius
   */
  dot(pen, number, radius) {
    pen.beginPath();
    pen.arc(...this.place(number), radius, 0, 2 * Math.PI);
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {Colour} colour
   */
  axes(pen, colour) {
    const {width, height} = this.area;
    const [left, bottom] = [MARGIN.left, MARGIN.top + height];
    pen.strokeStyle = colour("--rule");
    pen.fillStyle = colour("--soft");
    pen.lineWidth = 1;
    for (let tick = 0; tick <= Math.round(this.end / this.step); tick += 1) {
      const value = tick * this.step;
      const [x, y] = [left + (value / this.end) * width, bottom - (value / this.end) * height];
      line(pen, x, MARGIN.top, x, bottom);
      line(pen, left, y, left + width, y);
      const text = String(parseFloat(value.toFixed(6)));
      pen.textAlign = "center";
      pen.fillText(text, Math.min(x, left + width - 4), bottom + 15);
      pen.textAlign = "right";
      pen.fillText(text, left - 5, y + 4);
    }
    pen.strokeStyle = colour("--strong-rule");
    line(pen, left, bottom, left + width, MARGIN.top);
    pen.textAlign = "center";
    pen.fillStyle = colour("--first");
    pen.fillText(fitted(pen, this.report.systems[this.a], width), left + width / 2, bottom + 32);
    pen.save();
    pen.translate(11, MARGIN.top + height / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillStyle = colour("--second");
    pen.fillText(fitted(pen, this.report.systems[this.b], height), 0, 0);
    pen.restore();
  }

  /** @param {PointerEvent} event */
  hover(event) {
    const box = this.canvas.getBoundingClientRect();
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
    this.draw();
    if (number === undefined) {
      this.details.replaceChildren(element("p", {class: "nothing"}, "No image matches."));
      return;
    }
    const image = this.report.images[number];
    this.details.replaceChildren(element("h3", {}, image.id), ...besidePhoto(
      photo(this.report, number, image.id, image.references),
      ...[{side: "first", system: this.a}, {side: "second", system: this.b}].map(({side, system}) =>
        systemCaption(this.report, number, system, this.metric, side)),
      referenceList(image)));
  }
}

/**
 * @param {CanvasRenderingContext2D} pen
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

/**
 * The text, cut where it is wider than that.
 * @param {CanvasRenderingContext2D} pen
 * @param {string} text
 * @param {number} width
 */
function fitted(pen, text, width) {
  let shown = text;
  while (shown.length > 1 && pen.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`;
  return shown;
}
