// The images: search, order, pages, and rows that open to the caption sets.

import {byId, element, imageScore, images, whole} from "./dom.js";
import {systemName} from "./marks.js";
import {PagedTable} from "./paged.js";
import {named, photo, photoNotes} from "./photos.js";
import {SetImage, described} from "./set_image.js";

const ROWS = 25;

export class SetTable extends PagedTable {
  /**
   * @param {SetsPage} report
   * @param {Set<number>} hidden
   */
  constructor(report, hidden) {
    super(ROWS, element("tbody"));
    this.report = report;
    this.hidden = hidden;
    /** @type {number[]} */
    this.columns = [];
    this.texts = report.images.map((image) => [image.id, ...image.captions.flatMap((set) => set ?? [])].join("\n").toLowerCase());
    this.orders = setOrders(report);
    this.search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false",
      placeholder: "id or caption", input: () => this.find()});
    this.sort = element("select", {change: () => this.find()},
      ...this.orders.map(({name}, number) => element("option", {value: number}, name)));
    this.status = element("p", {class: "status", role: "status"});
    this.head = element("tr", {});
    byId("table").append(...partNote(report), ...photoNotes(report), this.controls(), this.grid(), this.pager);
    this.find();
  }

  controls() {
    return element("div", {class: "controls"}, element("label", {class: "control", for: "search"}, "Search"), this.search,
      element("label", {class: "control"}, "Order ", this.sort), this.status);
  }

  grid() {
    return element("div", {class: "wide-table"}, element("table", {class: "set-table"},
      element("caption", {}, `Images, one row per image, with the diversity of each system’s captions; a row opens to them.`),
      element("thead", {}, this.head), this.body));
  }

  /** Shows the images that have every part of the search in their id or captions, in the order chosen. */
  find() {
    const parts = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const {value, sign} = this.orders[Number(this.sort.value)];
    const keys = this.report.images.map(value);
    const found = this.report.images.map((_, number) => number)
      .filter((number) => parts.every((part) => this.texts[number].includes(part)));
    if (sign) found.sort((a, b) => sign * (keys[a] - keys[b]));
    const all = this.report.images.length;
    this.status.textContent = found.length === all ? images(all) : `${whole(found.length)} of ${images(all)}`;
    this.list(found);
  }

  /** @param {number} page */
  turn(page) {
    this.columns = this.report.systems.map((_, number) => number).filter((number) => !this.hidden.has(number));
    this.head.replaceChildren(element("th", {scope: "col"}, "Image"),
      ...(this.report.spread ? this.columns : []).map((number) => element("th", {scope: "col"}, systemName(this.report, number))));
    super.turn(page);
  }

  /** @param {number} number */
  rows(number) {
    const image = this.report.images[number];
    /** @type {HTMLButtonElement} */
    const button = element("button", {type: "button", "aria-expanded": String(this.open.has(number)),
      click: () => this.toggle(number, row, button)}, element("bdi", {}, image.id));
    /** @type {HTMLTableRowElement} */
    const row = element("tr", {class: "image"}, element("th", {scope: "row", class: "id"},
      named(photo(this.report, number, image.id, described(this.report, image), "row"), button)),
      ...(this.report.spread ? this.columns : []).map((column) => element("td", {class: "score"},
        scoreName(image.diversity[column]))));
    return this.open.has(number) ? [row, this.details(number)] : [row];
  }

  /** @param {number} number */
  details(number) {
    return element("tr", {class: "details"}, element("td", {colspan: this.columns.length + 1},
      new SetImage(this.report, number, this.hidden).node));
  }

  nothing() {
    return element("tr", {}, element("td", {class: "nothing", colspan: this.columns.length + 1},
      "No image matches. Search looks for every word in the id and the captions."));
  }
}

/** @param {number | null} value */
const scoreName = (value) => (value === null ? "–" : imageScore(value));

/**
 * Orders of the images: `sign` is 1 for the least value first, 0 for the order of the file.
 * @param {SetsPage} report
 * @returns {{name: string, value: (image: SetsImage) => number, sign: number}[]}
 */
function setOrders(report) {
  const file = {name: "as in the file", value: () => 0, sign: 0};
  if (!report.spread) return [file];
  const own = (/** @type {SetsImage} */ image) =>
    image.diversity.filter((value, number) => value !== null && !report.systems[number].people).map(Number);
  const mean = (/** @type {SetsImage} */ image) => own(image).reduce((a, b) => a + b, 0) / own(image).length;
  const apart = (/** @type {SetsImage} */ image) => Math.max(...own(image)) - Math.min(...own(image));
  return [
    {name: "least diverse first", value: mean, sign: 1},
    {name: "most diverse first", value: mean, sign: -1},
    ...(report.systems.filter((system) => !system.people).length > 1
      ? [{name: "systems furthest apart first", value: apart, sign: -1}] : []),
    file,
  ];
}

/**
 * What a page with a part of the images says about that.
 * @param {SetsPage} report
 */
function partNote(report) {
  if (report.sampled || report.images.length === report.total) return [];
  return [element("p", {class: "note"}, `This page holds ${whole(report.images.length)} of the ${images(report.total)}: those `
    + "with the most and the least diverse captions. All figures and pictures above are of all images.")];
}
