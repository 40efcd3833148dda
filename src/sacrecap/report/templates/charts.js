// A panel of a chart, as Python describes it: axes, lines and marks. It fits the available width, and says what is under
// the pointer or the focus.

import {element, shape} from "./dom.js";
import {inkOf, markOf} from "./marks.js";

const MARGIN = {left: 56, right: 14, top: 12, bottom: 44};
const BESIDE = 44; // room for the texts at the ends of guides
const BAR = 44; // height that a bar and its text need
const COLUMN = 124; // height of a panel of columns
const RADIUS = 7; // of a mark of size 1

/** @typedef {[x: number, y: number]} Point */
/** @typedef {{title: string, note?: string, hidden?: (look: number) => boolean, more?: () => void, square?: boolean,
 *    told?: (node: SVGElement, item: Line | Mark) => void}} Options */

/**
 * The text, cut where it has more characters than that.
 * @param {string} text
 * @param {number} most
 */
export const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/**
 * Where values of an axis are, from one place to another.
 * @param {PanelAxis} axis
 * @param {number} from
 * @param {number} to
 */
function scale({ends, log}, from, to) {
  const at = (/** @type {number} */ value) => (log ? Math.log(value) : value);
  const [low, high] = ends.map(at);
  return (/** @type {number} */ value) => from + ((at(value) - low) / (high - low || 1)) * (to - from);
}

export class Plot {
  /**
   * `hidden` says which looks are not shown; `told` links the node of a line or mark to what it tells; `more` draws on
   * top.
   * @param {Panel} panel
   * @param {Look[]} looks
   * @param {Options} options
   */
  constructor(panel, looks, {title, note = "", hidden = () => false, told, more = () => {}, square = false}) {
    this.panel = panel;
    this.looks = looks;
    this.hidden = hidden;
    this.more = more;
    this.square = square || panel.kind === "plane" || panel.kind === "radar";
    this.told = told ?? ((node, item) => this.telling(node, item.said));
    this.width = 0;
    this.height = 0;
    /** @type {(x: number, y: number) => Point} */
    this.at = (x, y) => [x, y];
    this.readout = element("p", {class: "readout", "aria-live": "polite"});
    this.svg = shape("svg", {class: `plot2 ${panel.kind}`, role: "group", "aria-label": title});
    this.box = element("div", {class: "plot-box"}, this.svg);
    this.figure = element("figure", {class: "picture"},
      element("figcaption", {}, element("strong", {}, title), element("span", {class: "legend"}, note)), this.box,
      ...(panel.below ? [element("p", {class: "legend"}, panel.below)] : []), ...(told ? [] : [this.readout]));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  draw() {
    const {kind, lines, marks} = this.panel;
    const width = this.box.clientWidth;
    if (!width) return;
    this.width = width;
    this.height = this.square ? width : kind === "bars" ? BAR * marks.length + MARGIN.top + MARGIN.bottom
      : kind === "columns" ? COLUMN : Math.max(Math.min(0.62 * width, 420), 250);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    this.svg.setAttribute("height", String(this.height));
    this.svg.replaceChildren();
    this.readout.textContent = "";
    if (kind === "radar") this.rings();
    else this.axes();
    const draw = kind === "bars" ? this.bar : kind === "columns" ? this.column : this.mark;
    const all = [() => lines.filter(({look}) => look === null || !this.hidden(look)).forEach((line) => this.line(line)),
      () => marks.filter(({look}) => !this.hidden(look)).forEach((mark) => draw.call(this, mark))];
    for (const some of kind === "columns" ? all.reverse() : all) some();
    this.more();
  }

  axes() {
    const {kind, x, y, lines} = this.panel;
    const right = lines.some(({said}) => said) && kind === "plot" ? BESIDE : MARGIN.right;
    const [left, end, top, base] = kind === "plane" ? [1, this.width - 1, 1, this.height - 1]
      : kind === "columns" ? [34, this.width - 8, 8, this.height - 20]
      : [kind === "bars" ? 8 : MARGIN.left, this.width - right, MARGIN.top, this.height - MARGIN.bottom];
    const [across, up] = [scale(x, left, end), scale(y, base, top)];
    this.at = (one, other) => [across(one), up(other)];
    for (const [value, text] of x.ticks) {
      this.put(path("grid", [[across(value), top], [across(value), base]]), label("tick", across(value), base + 16, text, "middle"));
    }
    for (const [value, text] of y.ticks) {
      this.put(path("grid", [[left, up(value)], [end, up(value)]]), label("tick", left - 7, up(value) + 4, text, "end"));
    }
    const side = label("axis-label up", 0, 0, y.label, "middle");
    side.setAttribute("transform", `translate(13 ${(top + base) / 2}) rotate(-90)`);
    const corner = kind === "plane" ? path("frame", [[left, top], [left, base], [end, base], [end, top]], "", "Z")
      : path("axis", [[left, top], [left, base], [end, base]]);
    this.put(corner, side, label("axis-label", (left + end) / 2, this.height - 8, x.label, "middle"));
  }

  /** The rings and the numbered spokes of a radar. */
  rings() {
    const {x: {ticks: spokes}, y: {ends: [low, high], ticks: rings}} = this.panel;
    const middle = this.width / 2;
    this.at = (spoke, value) => {
      const angle = -Math.PI / 2 + (2 * Math.PI * spoke) / spokes.length;
      const reach = 0.82 * middle * ((value - low) / (high - low));
      return [middle + reach * Math.cos(angle), middle + reach * Math.sin(angle)];
    };
    for (const [value, text] of rings) {
      this.put(path(text === "0" ? "ring zero" : "ring", spokes.map(([spoke]) => this.at(spoke, value)), "", "Z"),
        label("tick", ...this.at(0.15, value), text, "start"));
    }
    for (const [spoke, text] of spokes) {
      const [x, y] = this.at(spoke, 1.22 * high);
      this.put(path("ring", [this.at(spoke, low), this.at(spoke, high)]), label("tick", x, y + 4, text, "middle"));
    }
  }

  /** @param {Line} line */
  line(line) {
    const points = line.points.map(([x, y]) => this.at(x, y));
    if (line.kind === "fitted") {
      this.put(path("fitted", points));
      return;
    }
    if (line.look === null) {
      const [x, y] = points[points.length - 1];
      this.put(path("equal", points), label("tick", x + 5, y - 4, line.said, "start"));
      return;
    }
    if (line.kind === "cloud") {
      this.put(shape("path", {class: "cloud", stroke: inkOf(this.looks[line.look]),
        d: points.map(([x, y]) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("")}));
      return;
    }
    const node = path(line.kind, points, inkOf(this.looks[line.look]), line.kind === "open" ? "" : "Z");
    if (line.kind === "closed") this.told(node, line);
    this.put(node);
  }

  /** @param {Mark} mark */
  mark(mark) {
    const look = this.looks[mark.look];
    const [x, y] = this.at(mark.x, mark.y);
    for (const end of [mark.across].filter((ends) => ends !== null)) {
      this.put(path("cross", end.map((value) => this.at(value, mark.y)), inkOf(look)));
    }
    for (const end of [mark.up].filter((ends) => ends !== null)) {
      this.put(path("cross", end.map((value) => this.at(mark.x, value)), inkOf(look)));
    }
    const node = markOf(look, x.toFixed(1), y.toFixed(1), RADIUS * Math.sqrt(mark.size));
    this.told(node, mark);
    this.put(node, label("tick", x + 8, y - 6, mark.text, "start"));
  }

  /**
   * A bar, and its text above it.
   * @param {Mark} mark
   */
  bar(mark) {
    const look = this.looks[mark.look];
    const [[left, y], [right]] = [this.at(0, mark.y), this.at(mark.x, mark.y)];
    const node = shape("rect", {class: "f-bar", x: left, y, width: right - left, height: 0.34 * BAR, fill: inkOf(look)});
    this.told(node, mark);
    this.put(node, label("name", left + 2, y - 5, shortened(mark.text, Math.floor(this.width / 10)), "start"));
    for (const end of [mark.across].filter((ends) => ends !== null)) {
      this.put(path("whisker", end.map((value) => [this.at(value, 0)[0], y + 0.17 * BAR]), "currentColor"));
    }
  }

  /**
   * A column, and behind it a target of the full height, so that low columns can be hit.
   * @param {Mark} mark
   */
  column(mark) {
    const {across, y, said} = mark;
    const [low, high] = across ?? [0, 0];
    const [[left, top], [right, base], [, all]] = [this.at(low, y), this.at(high, 0), this.at(0, this.panel.y.ends[1])];
    const box = {x: left, width: right - left};
    const node = shape("g", {class: "bar", "aria-label": said}, shape("title", {}, said),
      shape("rect", {class: "target", ...box, y: all, height: base - all}),
      shape("rect", {class: "count", ...box, y: top, height: base - top}));
    this.told(node, mark);
    this.put(node);
  }

  /** @param {...SVGElement} nodes */
  put(...nodes) { this.svg.append(...nodes); }

  /**
   * A mark that says `text` when it is pointed at or focused.
   * @param {SVGElement} node
   * @param {string} text
   */
  telling(node, text) {
    focusable(node, text);
    for (const event of ["mouseenter", "focus"]) {
      node.addEventListener(event, () => { this.readout.textContent = text; });
    }
  }
}

/**
 * A node that the keyboard reaches, and that tells a text.
 * @param {SVGElement} node
 * @param {string} text
 */
export function focusable(node, text) {
  for (const [name, value] of Object.entries({tabindex: "0", role: "img", "aria-label": text})) node.setAttribute(name, value);
  node.append(shape("title", {}, text));
}

/**
 * @param {string} kind
 * @param {number} x
 * @param {number} y
 * @param {string} text
 * @param {string} anchor
 */
const label = (kind, x, y, text, anchor) => shape("text", {class: kind, x, y, "text-anchor": anchor}, text);

/**
 * @param {string} kind
 * @param {Point[]} points
 * @param {string} colour
 * @param {string} end
 */
export const path = (kind, points, colour = "", end = "") => shape("path", {class: kind, stroke: colour || null,
  fill: end && colour ? colour : null,
  d: points.map(([x, y], number) => `${number ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("") + end});
