// A picture with two axes. It fits the available width, and describes the mark under the pointer or the focus.

import {element, shape} from "./dom.js";
import {roundStep} from "./steps.js";

export const MARGIN = {left: 56, right: 14, top: 12, bottom: 44};

/** @typedef {{at: (value: number) => number, ticks: number[]}} Scale from values to places, with round values */
/** @typedef {(least: number, most: number, from: number, to: number, wanted?: number) => Scale} MakeScale */
/** @typedef {{label: string, ends: [least: number, most: number], scale?: MakeScale,
 *    named?: (tick: number) => string}} Axis */

/** @type {MakeScale} */
export function linear(least, most, from, to, wanted = 6) {
  const step = roundStep((most - least) / wanted);
  const ticks = [];
  for (let number = Math.ceil(least / step - 1e-9); number * step <= most + step * 1e-9; number += 1) {
    ticks.push(parseFloat((number * step).toPrecision(12)));
  }
  return {at: (value) => from + ((value - least) / (most - least || 1)) * (to - from), ticks};
}

/** @type {MakeScale} */
export function logarithmic(least, most, from, to) {
  const ticks = [];
  for (let power = Math.ceil(Math.log10(least) - 1e-9); 10 ** power <= most * (1 + 1e-9); power += 1) {
    ticks.push(parseFloat((10 ** power).toPrecision(12)));
  }
  const [low, high] = [Math.log(least), Math.log(most)];
  return {at: (value) => from + ((Math.log(value) - low) / (high - low || 1)) * (to - from), ticks};
}

/**
 * Ends of an axis that leave some room around the values that are known; never above the limit.
 * @param {(number | null)[]} values
 * @returns {[number, number]}
 */
export function around(values, limit = Infinity) {
  const known = values.filter((value) => value !== null);
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const room = 0.12 * (most - least || Math.abs(most) || 1);
  return [Math.max(least - room, Math.min(least, 0)), Math.min(most + room, Math.max(limit, most))];
}

/** @param {number} value */
export const tickName = (value) => value.toLocaleString("en", {maximumSignificantDigits: 4});

/**
 * The text, cut where it has more characters than that.
 * @param {string} text
 * @param {number} most
 */
export const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

export class Plot {
  /**
   * @param {string} title
   * @param {string} note
   * @param {(plot: Plot) => void} paint draws: it calls `axes` first, then `put`
   * @param {(width: number) => number} tall its height
   */
  constructor(title, note, paint, tall) {
    this.paint = paint;
    this.tall = tall;
    this.width = 0;
    this.height = 0;
    this.x = linear(0, 1, 0, 1);
    this.y = this.x;
    this.readout = element("p", {class: "readout", "aria-live": "polite"});
    this.svg = shape("svg", {class: "plot2", role: "group", "aria-label": title});
    this.box = element("div", {class: "plot-box"}, this.svg);
    this.figure = element("figure", {class: "picture"},
      element("figcaption", {}, element("strong", {}, title), element("span", {class: "legend"}, note)), this.box,
      this.readout);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  draw() {
    this.width = this.box.clientWidth;
    this.height = this.tall(this.width);
    if (!this.width) return;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute("height", String(this.height));
    this.svg.replaceChildren();
    this.readout.textContent = "";
    this.paint(this);
  }

  /**
   * Draws axes; `margin` is the room on the right.
   * @param {Axis} across
   * @param {Axis} up
   * @param {number} margin
   */
  axes(across, up, margin = MARGIN.right) {
    const [left, right] = [MARGIN.left, this.width - margin];
    const [top, bottom] = [MARGIN.top, this.height - MARGIN.bottom];
    this.x = (across.scale ?? linear)(...across.ends, left, right, this.width < 420 ? 4 : 7);
    this.y = (up.scale ?? linear)(...up.ends, bottom, top);
    for (const tick of this.x.ticks) {
      this.put(line("grid", this.x.at(tick), top, this.x.at(tick), bottom),
        label("tick", this.x.at(tick), bottom + 16, (across.named ?? tickName)(tick), "middle"));
    }
    for (const tick of this.y.ticks) {
      this.put(line("grid", left, this.y.at(tick), right, this.y.at(tick)),
        label("tick", left - 7, this.y.at(tick) + 4, tickName(tick), "end"));
    }
    const side = label("axis-label up", 0, 0, up.label, "middle");
    side.setAttribute("transform", `translate(13 ${(top + bottom) / 2}) rotate(-90)`);
    this.put(line("axis", left, bottom, right, bottom), line("axis", left, top, left, bottom), side,
      label("axis-label", (left + right) / 2, this.height - 8, across.label, "middle"));
  }

  /** @param {...SVGElement} nodes */
  put(...nodes) { this.svg.append(...nodes); }

  /**
   * A mark that says `text` when it is pointed at or focused.
   * @param {SVGElement} node
   * @param {string} text
   */
  telling(node, text) {
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", text);
    node.append(shape("title", {}, text));
    for (const event of ["mouseenter", "focus"]) {
      node.addEventListener(event, () => { this.readout.textContent = text; });
    }
    return node;
  }
}

/**
 * @param {string} kind
 * @param {number} x1
 * @param {number} y1
 * @param {number} x2
 * @param {number} y2
 */
const line = (kind, x1, y1, x2, y2) => shape("line", {class: kind, x1, y1, x2, y2});

/**
 * @param {string} kind
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {string} anchor
 */
export const label = (kind, x, y, text, anchor) => shape("text", {class: kind, x, y, "text-anchor": anchor}, text);

/**
 * @param {string} kind
 * @param {[number, number][]} points
 * @param {string | null} colour
 */
export const path = (kind, points, colour) => shape("path", {class: kind, stroke: colour,
  d: points.map(([x, y], number) => `${number ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("")});
