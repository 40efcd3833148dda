// The table of images: search, sort, filter by a histogram's bar, pages, and rows that open.

import {alignmentFigure} from "./alignment.js";
import {besidePhoto, markedCandidate, referenceList, scoreList} from "./details.js";
import {byId, element, imageScore, images, whole} from "./dom.js";
import {flowFigure} from "./flow.js";
import {graphFigure} from "./graph.js";
import {mentionsFigure} from "./mentions.js";
import {binOf, rangeName} from "./histograms.js";
import {PagedTable} from "./paged.js";
import {named, photo, photoNotes} from "./photos.js";

const ROWS = 50;

/**
 * What the table can be sorted by; `orders` names the ascending and the descending order, `scores` are a metric's.
 * @typedef {{label: string, kind: string, orders: string[], compare: (a: number, b: number) => number,
 *   scores?: (number | null)[]}} Column
 */

export class ImageTable extends PagedTable {
  /**
   * `clear` is called when the reader removes the filter.
   * @param {ScorePage} report
   * @param {() => void} clear
   */
  constructor(report, clear) {
    super(ROWS, element("tbody", {role: "rowgroup"}));
    this.report = report;
    /** @type {{metric: ScoredMetric, bin: number} | null} */
    this.filter = null;
    /** @type {string[]} */
    this.query = [];
    this.columns = tableColumns(report);
    this.column = this.columns[2 + report.lead];
    this.descending = true;
    /** @type {number[]} */
    this.order = [];
    this.texts = report.images.map((image) =>
      [image.id, image.candidate ?? "", ...image.references].join("\n").toLowerCase());
    this.search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false",
      placeholder: "id, candidate or references", input: () => this.find(this.search.value)});
    this.sortSelect = element("select", {change: () => this.sortBySelect()},
      ...this.columns.flatMap((column, number) => column.orders.map((name, descending) =>
        element("option", {value: `${number} ${descending}`}, `${column.label}, ${name}`))));
    this.chip = element("button", {type: "button", class: "chip", click: clear});
    this.status = element("p", {class: "status", role: "status"});
    // The roles keep it a table for assistive software when narrow screens show its rows as blocks.
    this.heads = this.columns.map((column) => element("th", {scope: "col", role: "columnheader", class: column.kind},
      element("button", {type: "button", click: () => this.sortBy(column)}, column.label)));
    byId("table").append(...sampleNote(report), ...photoNotes(report), this.controls(), this.grid(), this.pager);
    this.sortBy(this.column, true);
  }

  controls() {
    return element("div", {class: "controls"},
      element("label", {class: "control", for: "search"}, "Search"), this.search,
      element("label", {class: "control sort"}, "Sort by ", this.sortSelect),
      this.chip, this.status);
  }

  grid() {
    const wide = this.report.metrics.length > 12 ? " wide" : "";
    return element("div", {class: `grid${wide}`},
      element("table", {class: "images", role: "table"},
        element("caption", {}, "Scores of the images, one row per image; a row opens to its references."),
        element("thead", {role: "rowgroup"}, element("tr", {role: "row"}, ...this.heads)), this.body));
  }

  /**
   * Sorts by a column; without a direction, the other one of the column sorted by, or the column's own.
   * @param {Column} column
   */
  sortBy(column, descending = column === this.column ? !this.descending : column.kind === "score") {
    this.column = column;
    this.descending = descending;
    const sign = descending ? -1 : 1;
    // Array sorting is stable: equal images stay in the corpus's order.
    // Images without a score come last in either direction.
    const lacks = (/** @type {number} */ number) => Number(column.scores?.[number] === null);
    this.order = this.report.images.map((_, number) => number).sort((a, b) =>
      lacks(a) - lacks(b) || sign * column.compare(a, b));
    this.sortSelect.value = `${this.columns.indexOf(column)} ${Number(descending)}`;
    this.heads.forEach((head, number) => {
      const direction = descending ? "descending" : "ascending";
      head.setAttribute("aria-sort", this.columns[number] === column ? direction : "none");
    });
    this.select();
  }

  sortBySelect() {
    const [number, descending] = this.sortSelect.value.split(" ").map(Number);
    this.sortBy(this.columns[number], descending === 1);
  }

  /**
   * Shows the images that have every one of these words, or parts of words, somewhere in their text.
   * @param {string} text
   */
  find(text) {
    this.query = text.toLowerCase().split(/\s+/).filter(Boolean);
    this.select();
  }

  /**
   * Shows the images whose score is in this bin of the metric's histogram; all for a null.
   * @param {ScoredMetric | null} metric
   * @param {number} bin
   */
  filterBy(metric, bin) {
    this.filter = metric && {metric, bin};
    this.select();
  }

  select() {
    const found = this.order.filter((number) => this.inFilter(number)
      && this.query.every((part) => this.texts[number].includes(part)));
    this.chip.hidden = this.filter === null;
    if (this.filter) {
      const {metric, bin} = this.filter;
      this.chip.replaceChildren(`${metric.label} ${rangeName(metric, bin)}`, element("span", {"aria-hidden": "true"}, " ×"));
      this.chip.setAttribute("aria-label", `Remove the filter ${metric.label} ${rangeName(metric, bin)}`);
    }
    const all = this.report.images.length;
    this.status.textContent = found.length === all ? images(all) : `${whole(found.length)} of ${images(all)}`;
    this.list(found);
  }

  /** @param {number} number */
  inFilter(number) {
    if (this.filter === null) return true;
    const {metric, bin} = this.filter;
    const score = metric.scores[number];
    return score !== null && binOf(score, metric.histogram.edges) === bin;
  }

  /** @param {number} page */
  turn(page) {
    super.turn(page);
    this.markColumn();
  }

  /** The column sorted by, or the lead metric's, is the one score column that narrow screens show. */
  markColumn() {
    const marked = this.column.kind === "score" ? this.column : this.columns[2 + this.report.lead];
    const at = this.columns.indexOf(marked);
    const lines = [...this.body.rows].filter((line) => line.classList.contains("image"));
    for (const row of [this.heads, ...lines.map((line) => [...line.cells])]) {
      row.forEach((cell, number) => cell.classList.toggle("marked", number === at));
    }
  }

  /** @param {number} number */
  rows(number) {
    const image = this.report.images[number];
    const button = element("button", {type: "button", "aria-expanded": String(this.open.has(number))}, image.id);
    const row = element("tr", {class: "image", role: "row", click: () => this.clicked(number, row, button)},
      element("th", {scope: "row", role: "rowheader", class: "id"},
        named(photo(this.report, number, image.id, image.references, "row"), button)),
      element("td", {role: "cell", class: "caption"}, image.candidate ?? ""),
      ...this.report.metrics.map((metric) =>
        element("td", {role: "cell", class: "score"}, imageScore(metric.scores[number]))));
    return this.open.has(number) ? [row, this.details(number)] : [row];
  }

  /** @param {number} number */
  details(number) {
    const image = this.report.images[number];
    return element("tr", {class: "details", role: "row"}, element("td", {role: "cell", colspan: this.columns.length},
      ...besidePhoto(photo(this.report, number, image.id, image.references, "large"),
        markedCandidate(image), referenceList(image)),
      ...alignmentFigure(image), ...flowFigure(image), ...graphFigure(image), ...mentionsFigure(image),
      ...this.unexplained(image), scoreList(this.report, number)));
  }

  /**
   * Where no figure is on the page for this image, which images have them.
   * @param {ScoredImage} image
   */
  unexplained(image) {
    const {explained, metrics, lead} = this.report;
    const has = image.alignment || image.plan || image.graph || image.mentions;
    if (has || explained === null || explained === this.report.images.length) return [];
    return [element("p", {class: "legend"}, `Figures that explain scores are on the page for ${images(explained)
      }, the best and the worst by ${metrics[lead].label}; sacrecap score --explain shows any other.`)];
  }

  nothing() {
    return element("tr", {role: "row"}, element("td", {role: "cell", class: "nothing", colspan: this.columns.length},
      "No image matches. Search looks for every word in the id, the candidate and the references."));
  }
}

/**
 * @param {ScorePage} report
 * @returns {Column[]}
 */
function tableColumns(report) {
  const collator = new Intl.Collator("en", {numeric: true});
  /** @type {(label: string, kind: string, value: (image: ScoredImage) => string) => Column} */
  const text = (label, kind, value) => ({label, kind, orders: ["A to Z", "Z to A"],
    compare: (a, b) => collator.compare(value(report.images[a]), value(report.images[b]))});
  return [
    text("Image", "id", (image) => image.id),
    text("Candidate", "caption", (image) => image.candidate ?? ""),
    ...report.metrics.map(({label, scores}) => ({label, kind: "score", orders: ["lowest first", "highest first"], scores,
      compare: (/** @type {number} */ a, /** @type {number} */ b) => (scores[a] ?? 0) - (scores[b] ?? 0)})),
  ];
}

/**
 * What a page with a part of the images says about that.
 * @param {ScorePage} report
 */
function sampleNote(report) {
  if (report.extremes === null) return [];
  const extremes = whole(report.extremes);
  return [element("p", {class: "note"},
    `This page holds ${whole(report.images.length)} of the ${images(report.total)}: the ${extremes} best and the `
    + `${extremes} worst by ${report.metrics[report.lead].label}, and a random sample of the others (seed ${report.seed}). `
    + "Scores, intervals and distributions are of all images; the table, and the best and worst by other metrics, are of "
    + "the images on this page.")];
}
