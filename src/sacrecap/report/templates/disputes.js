// The judged captions with people's answer and a metric's score; rows open to the scores of all metrics.

import {besidePhoto, markedCandidate, referenceList} from "./details.js";
import {byId, element, imageScore} from "./dom.js";
import {PagedTable} from "./paged.js";
import {named, photo} from "./photos.js";

const ROWS = 25;
const SIDES = ["first", "second"];

/** @param {number} gap */
const signed = (gap) => `${gap < 0 ? "−" : gap > 0 ? "+" : ""}${imageScore(Math.abs(gap))}`;

export class Disputes extends PagedTable {
  /** @param {AgreementPage} report */
  constructor(report) {
    super(ROWS, element("tbody"));
    this.report = report;
    this.metric = report.metrics[0];
    const names = report.pairs ? ["Image", "Captions", "Chosen", "Other", "Difference"]
      : ["Image", "Caption", "People", "", "Disagreement"];
    this.heads = names.map((name, number) => element("th", {scope: "col", class: number > 1 ? "score" : null}, name));
    byId("disputes").append(
      element("table", {class: "differences"}, element("caption", {}, "Judged captions, and their scores by the metric."),
        element("thead", {}, element("tr", {}, ...this.heads)), this.body),
      this.pager);
  }

  /**
   * Shows the judgments with these numbers by the metric.
   * @param {JudgedMetric} metric
   * @param {number[]} found
   */
  show(metric, found) {
    this.metric = metric;
    const label = `${metric.turned ? "−" : ""}${metric.label}`;
    if (this.report.pairs) {
      this.heads[2].textContent = `${label}, chosen`;
      this.heads[3].textContent = `${label}, other`;
    } else {
      this.heads[3].textContent = label;
    }
    this.list(found);
  }

  /** @param {number} number */
  rows(number) {
    const item = this.report.items[number];
    const [first, second] = item.mean === null
      ? [this.metric.scores[0][number], this.metric.scores[1][number]] : [item.mean, this.metric.scores[0][number]];
    const gap = this.metric.gaps[number] ?? 0; // captions without a gap are not shown
    const button = element("button", {type: "button", "aria-expanded": String(this.open.has(number))},
      this.report.images[item.image]);
    const row = element("tr", {class: "image", click: () => this.clicked(number, row, button)},
      element("th", {scope: "row", class: "id"}, named(this.photo(item, "row"), button)),
      element("td", {class: "caption"},
        ...item.candidates.map((candidate, place) => element("p", {class: SIDES[place]}, candidate))),
      element("td", {class: "score first"}, imageScore(first)),
      element("td", {class: "score second"}, imageScore(second)),
      element("td", {class: `score gap ${this.report.pairs && gap <= 0 ? "wrong" : ""}`}, signed(gap)));
    return this.open.has(number) ? [row, this.details(number)] : [row];
  }

  /** @param {number} number */
  details(number) {
    const item = this.report.items[number];
    const references = this.report.references[item.references];
    const candidates = item.candidates.map((candidate, place) => {
      const chosen = this.report.pairs ? [place === 0 ? "people chose this" : "the other"] : [];
      const said = [...chosen, item.people[place], item.systems[place] ?? ""].filter(Boolean).join(" · ");
      return element("div", {class: `system-caption ${SIDES[place]}`},
        element("p", {class: "who"}, element("span", {class: "name"}, said)),
        markedCandidate({candidate, references}), this.scores(number, place));
    });
    return element("tr", {class: "details"}, element("td", {colspan: 5}, ...besidePhoto(
      this.photo(item, "large"), ...candidates, referenceList({references}))));
  }

  /**
   * A candidate's scores by all metrics; the one looked at stands out.
   * @param {number} number
   * @param {number} place
   */
  scores(number, place) {
    return element("dl", {class: "image-scores", "aria-label": "Scores"}, ...this.report.metrics.map((metric) =>
      element("div", {class: metric === this.metric ? "looked" : null},
        element("dt", {}, `${metric.turned ? "−" : ""}${metric.label}`),
        element("dd", {}, imageScore(metric.scores[place][number])))));
  }

  /**
   * @param {JudgedItem} item
   * @param {string} kind
   */
  photo(item, kind) {
    return photo(this.report, item.image, this.report.images[item.image], this.report.references[item.references], kind);
  }

  nothing() {
    return element("tr", {}, element("td", {class: "nothing", colspan: 5},
      "Nothing matches. Search looks for every word in the id, the captions and the references."));
  }
}
