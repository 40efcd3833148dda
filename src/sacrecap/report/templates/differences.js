// The images, first those in which the two systems differ most; rows open to the captions of all systems.

import {gap, systemCaption} from "./compared.js";
import {besidePhoto, referenceList} from "./details.js";
import {byId, element, imageScore} from "./dom.js";
import {PagedTable} from "./paged.js";
import {named, photo} from "./photos.js";

const ROWS = 25;

export class Differences extends PagedTable {
  /** @param {ComparisonPage} report */
  constructor(report) {
    super(ROWS, element("tbody"));
    this.report = report;
    this.a = 0;
    this.b = 0;
    this.metric = report.metrics[0];
    this.heads = ["Image", "Captions", "", "", "Difference"].map((name, number) =>
      element("th", {scope: "col", class: number > 1 ? "score" : null}, name));
    byId("differences").append(
      element("table", {class: "differences"}, element("caption", {}, "Images and their scores by both systems."),
        element("thead", {}, element("tr", {}, ...this.heads)), this.body),
      this.pager);
  }

  /**
   * Shows two systems and a metric, by number, and the images with these numbers.
   * @param {{a: number, b: number, metric: number}} chosen
   * @param {number[]} found
   */
  show({a, b, metric}, found) {
    Object.assign(this, {a, b, metric: this.report.metrics[metric]});
    [this.heads[2].textContent, this.heads[3].textContent] = [this.report.systems[a], this.report.systems[b]];
    this.list(found);
  }

  /** @param {number} number */
  rows(number) {
    const image = this.report.images[number];
    const [x, y] = [this.metric.scores[this.a][number], this.metric.scores[this.b][number]];
    const more = gap(x, y);
    const button = element("button", {type: "button", "aria-expanded": String(this.open.has(number))}, image.id);
    const caption = (/** @type {number} */ system, /** @type {string} */ side) =>
      element("p", {class: side}, image.candidates[system] ?? "");
    const row = element("tr", {class: "image", click: () => this.clicked(number, row, button)},
      element("th", {scope: "row", class: "id"},
        named(photo(this.report, number, image.id, image.references, "row"), button)),
      element("td", {class: "caption"}, caption(this.a, "first"), caption(this.b, "second")),
      element("td", {class: "score first"}, imageScore(x)),
      element("td", {class: "score second"}, imageScore(y)),
      element("td", {class: "score gap"}, more === null ? ""
        : `${more < 0 ? "−" : more > 0 ? "+" : ""}${imageScore(Math.abs(more))}`));
    return this.open.has(number) ? [row, this.details(number)] : [row];
  }

  /** @param {number} number */
  details(number) {
    const image = this.report.images[number];
    const systems = this.report.systems.map((_, system) => systemCaption(this.report, number, system, this.metric,
      system === this.a ? "first" : system === this.b ? "second" : null));
    return element("tr", {class: "details"}, element("td", {colspan: 5}, ...besidePhoto(
      photo(this.report, number, image.id, image.references, "large"), ...systems, referenceList(image))));
  }

  nothing() {
    return element("tr", {}, element("td", {class: "nothing", colspan: 5},
      "No image matches. Search looks for every word in the id, the candidates and the references."));
  }
}
