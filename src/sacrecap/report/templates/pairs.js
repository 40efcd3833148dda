// The heat map of p: one row per pair of systems, one column per metric; a click on a cell selects what the sections
// below show.

import {byId, element} from "./dom.js";
import {levelName} from "./facts.js";

/** Stronger for a smaller p; the hue says which system is better. */
const LEVELS = [0.001, 0.01, 0.05];

/** @param {number} p */
const pText = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));
/** @param {number | null} delta */
const signed = (delta) => (delta === null ? "–" : `${delta < 0 ? "−" : "+"}${Math.abs(delta).toFixed(4)}`);

/** Draws it; `choose(pair, metric)` is called with their numbers. */
export class PairMap {
  /**
   * @param {ComparisonPage} report
   * @param {(row: number, column: number) => void} choose
   */
  constructor(report, choose) {
    this.report = report;
    this.choose = choose;
    this.cells = report.pairs.map((pair, row) => report.metrics.map((_, column) => this.cell(pair, row, column)));
    const heads = report.metrics.map((metric) => element("th", {scope: "col"}, metric.label));
    byId("pairs").append(element("table", {class: "pairs"},
      element("thead", {}, element("tr", {}, element("th", {scope: "col"}, "Pair"), ...heads)),
      element("tbody", {}, ...report.pairs.map((pair, row) => element("tr", {}, this.name(pair),
        ...this.cells[row].map((button) => element("td", {}, button)))))));
    byId("pairs-legend").append(
      element("span", {class: "key first"}, "first better"), element("span", {class: "key second"}, "second better"),
      "stronger: smaller p (0.05, 0.01, 0.001). Click a cell to choose what is shown below.");
  }

  /** @param {ComparedPair} pair */
  name(pair) {
    return element("th", {scope: "row"}, this.report.systems[pair.a], element("span", {class: "minus"}, " − "),
      this.report.systems[pair.b]);
  }

  /**
   * @param {ComparedPair} pair
   * @param {number} row
   * @param {number} column
   */
  cell(pair, row, column) {
    const found = pair.metrics[column];
    const depth = LEVELS.filter((level) => found.corrected <= level + 1e-12).length;
    const delta = found.delta ?? 0;
    const side = delta > 0 ? "first" : delta < 0 ? "second" : "";
    const names = `${this.report.systems[pair.a]} − ${this.report.systems[pair.b]}, ${this.report.metrics[column].label}`;
    const interval = found.interval === null ? "" : `, ${levelName(this.report)} interval ${found.interval.map(signed).join(" to ")}`;
    return element("button", {type: "button", class: `cell ${side} depth-${depth}`, "aria-pressed": "false",
      title: `${names}: ${signed(found.delta)}${interval}; p ${pText(found.p)}, corrected ${pText(found.corrected)}`,
      click: () => this.choose(row, column)},
    element("span", {class: "delta"}, signed(found.delta)),
    element("span", {class: "p"}, `p ${pText(found.corrected)}${found.significant ? "" : " n.s."}`));
  }

  /**
   * @param {number | null} row
   * @param {number} column
   */
  mark(row, column) {
    this.cells.flat().forEach((cell) => cell.setAttribute("aria-pressed", "false"));
    if (row !== null) this.cells[row][column].setAttribute("aria-pressed", "true");
  }
}
