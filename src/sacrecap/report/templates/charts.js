// The charts of whole systems, as Python describes them: points, lines or bars, with their intervals.

import {corpusScore, element, shape, whole} from "./dom.js";
import {inkOf, markOf} from "./marks.js";
import {MARGIN, Plot, around, label, linear, logarithmic, path, shortened, tickName} from "./plot.js";

/** @typedef {import("./plot.js").Axis} PlotAxis */

const BAR = 44; // height that a bar and its name need

/**
 * The pictures, or what says why there is none. Numbers in `hidden` are systems not to show.
 * @param {Pick<SetsPage, "systems" | "pictures">} report
 * @param {Set<number>} hidden
 */
export const chartsOf = (report, hidden) => report.pictures.map(({title, chart, left_out: reason}) => {
  if (chart === null) return {node: element("p", {class: "note left-out"}, `${title} is left out: ${reason}.`), draw() {}};
  const least = chart.kind === "bars" ? MARGIN.top + MARGIN.bottom + BAR * chart.systems.length : 0;
  const plot = new Plot(title, chart.note, (on) => new Drawing(report, chart, hidden, on).paint(),
    (width) => Math.max(Math.min(Math.max(0.62 * width, 250), 420), least));
  return {node: plot.figure, draw: () => plot.draw()};
});

class Drawing {
  /**
   * @param {Pick<SetsPage, "systems">} report
   * @param {SetsChart} chart
   * @param {Set<number>} hidden
   * @param {Plot} plot
   */
  constructor({systems}, chart, hidden, plot) {
    this.systems = systems;
    this.chart = chart;
    this.plot = plot;
    /** Numbers of the marks that are shown. */
    this.shown = chart.systems.flatMap((system, mark) => (hidden.has(system) ? [] : [mark]));
  }

  /**
   * A field of a mark, a number; null where it has none.
   * @param {string} field
   * @param {number} mark
   */
  value(field, mark) {
    const value = this.chart.fields[field]?.[mark] ?? null;
    return value === null ? null : Number(value);
  }

  /**
   * @param {string} field
   * @param {number} mark
   */
  known(field, mark) { return this.value(field, mark) ?? 0; }

  /**
   * The ends of a mark's interval, in a list of one, which is empty where it has none.
   * @param {string} field
   * @param {number} mark
   */
  bounds(field, mark) {
    const [lower, upper] = ["lower", "upper"].map((end) => this.value(`${field}_${end}`, mark));
    return lower === null || upper === null ? [] : [[lower, upper]];
  }

  /**
   * What a mark tells.
   * @param {number} mark
   */
  said(mark) {
    const told = this.chart.said.map(([field, name]) => {
      const value = this.chart.fields[field][mark];
      if (typeof value === "string") return `${name} “${value}”`;
      if (Number.isInteger(value)) return `${name} ${whole(Number(value))}`;
      const interval = this.bounds(field, mark).map((ends) => ` (${ends.map(corpusScore).join(" to ")})`);
      return `${name} ${corpusScore(value)}${interval}`;
    });
    return `${this.system(mark).name}: ${told.join(", ")}`;
  }

  /** @param {number} mark */
  system(mark) { return this.systems[this.chart.systems[mark]]; }

  /**
   * The axis for the marks shown, as its description wants it.
   * @param {Axis} described
   * @returns {PlotAxis}
   */
  axis({field, label: name, better, scale, most}) {
    const all = this.shown.flatMap((mark) => [this.known(field, mark), ...this.bounds(field, mark).flat()]);
    const [low, high] = [Math.min(...all), Math.max(...all)];
    const named = `${name}${better ? " →" : ""}`;
    if (scale === "zero") return {label: named, ends: [0, high * 1.12 || 1]};
    if (scale === "log") return {label: named, ends: [low === 1 ? 1 : low * 0.8, Math.max(high, 2) * 1.05], scale: logarithmic};
    if (scale === "counts") {
      return {label: named, ends: [low - 0.5, high + 0.5], scale: (...ends) => ({...linear(...ends), ticks: [...new Set(all)]})};
    }
    if (scale === "log counts") {
      const ticks = [...new Set(all)];
      return {label: named, ends: [low * 0.9, high * 1.1], scale: (...ends) => ({...logarithmic(...ends), ticks})};
    }
    if (scale === "measures") {
      const names = this.chart.fields.measure.slice(0, high + 1).map(String);
      return {label: named, ends: [low - 0.5, high + 0.5], scale: (...ends) => ({...linear(...ends), ticks: [...names.keys()]}),
        named: (tick) => shortened(names[tick], Math.floor(this.plot.width / names.length / 8))};
    }
    return {label: named, ends: around(all, most === null ? undefined : 1.02 * most)};
  }

  paint() {
    const {kind, x, y, beta2} = this.chart;
    if (!this.shown.length) return;
    if (kind === "bars" || y === null) {
      this.bars();
      return;
    }
    const [across, up] = [this.axis(x), this.axis(y)];
    this.plot.axes(across, up, beta2 === null ? undefined : 44);
    if (beta2 !== null) equalF(this.plot, beta2, across.ends, up.ends);
    for (const number of new Set(this.shown.map((mark) => this.chart.systems[mark]))) {
      const own = this.shown.filter((mark) => this.chart.systems[mark] === number);
      if (kind === "cloud") this.cloud(own, x.field, y.field);
      if (kind === "lines") this.line(own.map((mark) => [this.known(x.field, mark), this.known(y.field, mark)]), own[0]);
      for (const mark of this.marked(own)) this.mark(mark, x.field, y.field);
    }
    if (this.chart.fitted.length) {
      this.plot.put(path("fitted", this.chart.fitted.map(([x, y]) => [this.plot.x.at(x), this.plot.y.at(y)]), null));
    }
  }

  /**
   * The points of a cloud, in one path.
   * @param {number[]} own
   * @param {string} across
   * @param {string} up
   */
  cloud(own, across, up) {
    const points = own.map((mark) => `M${this.plot.x.at(this.known(across, mark)).toFixed(1)} ${
      this.plot.y.at(this.known(up, mark)).toFixed(1)}h0`);
    this.plot.put(shape("path", {class: "cloud", stroke: inkOf(this.system(own[0])), d: points.join("")}));
  }

  /**
   * Those of a system's marks that are drawn: of a line of hundreds, some.
   * @param {number[]} own
   */
  marked(own) {
    if (this.chart.kind === "cloud") return [];
    return this.chart.x.scale === "log"
      ? own.filter((_, place) => [1, 3, 10, 30, 100, 300, 1000, 3000, own.length].includes(place + 1)) : own;
  }

  /**
   * A mark and its intervals.
   * @param {number} mark
   * @param {string} across
   * @param {string} up
   */
  mark(mark, across, up) {
    const [x, y] = [this.known(across, mark), this.known(up, mark)];
    for (const ends of this.bounds(across, mark)) this.line(ends.map((end) => [end, y]), mark, "cross");
    for (const ends of this.bounds(up, mark)) this.line(ends.map((end) => [x, end]), mark, "cross");
    const radius = this.chart.kind === "points" ? 7 : this.chart.x.scale === "log" ? 4 : 5;
    this.plot.put(this.plot.telling(
      markOf(this.system(mark), this.plot.x.at(x), this.plot.y.at(y), radius), this.said(mark)));
  }

  /**
   * A line through points, in the ink of a mark's system.
   * @param {[number, number][]} points
   * @param {number} mark
   */
  line(points, mark, kind = "curve") {
    const places = /** @type {[number, number][]} */ (points.map(([x, y]) => [this.plot.x.at(x), this.plot.y.at(y)]));
    this.plot.put(path(kind, places, inkOf(this.system(mark))));
  }

  bars() {
    const {plot, chart: {x}} = this;
    const line = Math.min((plot.height - MARGIN.bottom - MARGIN.top) / this.shown.length, 58);
    plot.axes(this.axis(x), {label: "", ends: [0, 1], scale: () => ({at: () => 0, ticks: []})});
    this.shown.forEach((mark, place) => {
      const value = this.known(x.field, mark);
      const system = this.system(mark);
      const top = MARGIN.top + place * line;
      const drawn = shape("rect", {class: "f-bar", x: plot.x.at(0), y: top + 0.48 * line, height: 0.34 * line,
        width: plot.x.at(value) - plot.x.at(0), fill: inkOf(system)});
      const name = `\u2068${shortened(system.name, Math.floor(plot.width / 14))}\u2069  ${corpusScore(value)}`;
      plot.put(markOf(system, MARGIN.left + 9, top + 0.28 * line, 5),
        label("name", MARGIN.left + 20, top + 0.28 * line + 4, name, "start"), plot.telling(drawn, this.said(mark)));
      for (const [lower, upper] of this.bounds(x.field, mark)) {
        const middle = top + 0.65 * line;
        plot.put(path("whisker", [[plot.x.at(lower), middle], [plot.x.at(upper), middle]], "currentColor"));
      }
    });
  }
}

/**
 * Lines of equal F = (1 + β²)·d·a / (β²·d + a).
 * @param {Plot} plot
 * @param {number} beta2
 * @param {[number, number]} across
 * @param {[number, number]} up
 */
function equalF(plot, beta2, [left, right], [low, high]) {
  const most = ((1 + beta2) * right * high) / (beta2 * right + high);
  for (const level of linear(0, most, 0, 1, 7).ticks.filter((tick) => tick > 0)) {
    const accuracy = (/** @type {number} */ d) => (beta2 * d * level) / ((1 + beta2) * d - level);
    if ((1 + beta2) * right <= level || accuracy(right) < low || accuracy(right) > high) continue;
    const points = Array.from({length: 200}, (_, step) => left + ((right - left) * (step + 1)) / 200)
      .filter((d) => (1 + beta2) * d > level && accuracy(d) <= high);
    plot.put(path("equal", points.map((d) => [plot.x.at(d), plot.y.at(accuracy(d))]), null),
      label("tick", plot.x.at(right) + 5, plot.y.at(accuracy(right)) + 4, `F ${tickName(level)}`, "start"));
  }
}
