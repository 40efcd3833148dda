// The heat map of p: one row per pair of systems, one column per metric; a click on a cell selects what the sections
// below show.

import {element, signed} from "./dom.js";
import {levelName} from "./facts.js";
import {cell, head, row, table} from "./table.js";

/** Stronger for a smaller p; the hue says which system is better. */
const LEVELS = [0.001, 0.01, 0.05];

/** @param {number} p */
const pText = (p) => (p < 0.001 ? "<0.001" : p.toFixed(3));

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
    this.table = table("pairs", [head(null, "Pair"), ...report.metrics.map(({label}) => head(null, label))],
      report.pairs.map((pair, number) => row(this.cells[number].map((button) => cell(null, button)),
        report.systems[pair.a], element("span", {class: "minus"}, " − "), report.systems[pair.b])));
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
    const interval = found.interval === null ? "" : `, ${levelName(this.report)} interval ${found.interval.map((end) => signed(end)).join(" to ")}`;
    return element("button", {type: "button", class: `cell ${side} depth-${depth}`, "aria-pressed": "false",
      title: `${names}: ${signed(found.delta)}${interval}; p ${pText(found.p)}, corrected ${pText(found.corrected)}`,
      click: () => this.choose(row, column)},
    element("span", {class: "delta"}, signed(found.delta)),
    element("span", {class: "p"}, `p ${pText(found.corrected)}${found.significant ? "" : " n.s."}`));
  }

  /**
   * Marks a cell; none for a pair of −1.
   * @param {number} row
   * @param {number} column
   */
  mark(row, column) {
    this.cells.flat().forEach((cell) => cell.setAttribute("aria-pressed", "false"));
    this.cells[row]?.[column].setAttribute("aria-pressed", "true");
  }
}
