// A list of images, captions or pairs: search, controls, pages, and rows that open.

import {element, images, whole} from "./dom.js";
import {cell} from "./table.js";

/** @typedef {{id: string, photo: HTMLElement[], cells: HTMLTableCellElement[]}} Row of an image: its photo, if any */

/**
 * What is listed, by number. `texts` is what the search reads; `passes` what the controls let through; `compare` sorts;
 * `shown` hears which are left, in their order.
 * @typedef {object} Listing
 * @property {string} kind
 * @property {string} caption
 * @property {string} placeholder
 * @property {string} nothing
 * @property {string[]} texts
 * @property {number} [most] rows on a page
 * @property {(count: number) => string} [named]
 * @property {HTMLElement[]} controls
 * @property {() => HTMLTableCellElement[]} heads
 * @property {(number: number) => Row} row
 * @property {(number: number) => (Node | string)[]} details
 * @property {(number: number) => boolean} [passes]
 * @property {(a: number, b: number) => number} [compare]
 * @property {(found: number[]) => void} [shown]
 */

export class List {
  /** @param {Listing} listing */
  constructor(listing) {
    this.listing = listing;
    this.texts = listing.texts.map((text) => text.toLowerCase());
    this.most = listing.most ?? 25;
    /** @type {Set<number>} */
    this.open = new Set();
    this.page = 0;
    /** @type {number[]} */
    this.found = [];
    this.search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false",
      placeholder: listing.placeholder, input: () => this.update()});
    this.status = element("p", {class: "status", role: "status"});
    this.heads = element("tr", {role: "row"});
    this.body = element("tbody", {role: "rowgroup"});
    const turn = (/** @type {string} */ name, /** @type {() => number} */ to) =>
      element("button", {type: "button", click: () => this.turn(to())}, name);
    this.back = [turn("First", () => 0), turn("Previous", () => this.page - 1)];
    this.forth = [turn("Next", () => this.page + 1), turn("Last", () => this.last)];
    this.place = element("span", {class: "place"});
    /** What the page shows of it. */
    this.blocks = [
      element("div", {class: "controls"}, element("label", {class: "control", for: "search"}, "Search"), this.search,
        ...listing.controls, this.status),
      element("div", {class: "grid"}, element("table", {class: `images ${listing.kind}`, role: "table"},
        element("caption", {}, listing.caption), element("thead", {role: "rowgroup"}, this.heads), this.body)),
      element("nav", {class: "pager", "aria-label": "Pages of the table"}, ...this.back, this.place, ...this.forth),
    ];
  }

  get last() { return Math.max(Math.ceil(this.found.length / this.most), 1) - 1; }

  /** Shows those that have every word searched for and pass, from the first page on. */
  update() {
    const {passes = () => true, compare = () => 0, named = images, shown} = this.listing;
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.found = this.texts.flatMap((text, number) =>
      (passes(number) && words.every((word) => text.includes(word)) ? [number] : [])).sort(compare);
    const all = this.texts.length;
    this.status.textContent = this.found.length === all ? named(all) : `${whole(this.found.length)} of ${named(all)}`;
    shown?.(this.found);
    this.turn(0);
  }

  /** @param {number} page */
  turn(page) {
    this.page = page;
    const start = page * this.most;
    const shown = this.found.slice(start, start + this.most);
    this.place.textContent = shown.length
      ? `${whole(start + 1)}–${whole(start + shown.length)} of ${whole(this.found.length)}` : "";
    this.back.forEach((button) => { button.disabled = page === 0; });
    this.forth.forEach((button) => { button.disabled = page >= this.last; });
    this.heads.replaceChildren(...this.listing.heads());
    this.body.replaceChildren(...(shown.length ? shown.flatMap((number) => this.rows(number))
      : [this.across("", [element("p", {class: "nothing"}, this.listing.nothing)])]));
  }

  /**
   * An image's row, and below it, where open, its details.
   * @param {number} number
   */
  rows(number) {
    const {id, photo, cells} = this.listing.row(number);
    const opened = this.open.has(number);
    const button = element("button", {type: "button", "aria-expanded": String(opened)}, element("bdi", {}, id));
    const name = photo.length ? element("div", {class: "named"}, ...photo, button) : button;
    const row = element("tr", {class: "image", role: "row", click: () => this.clicked(number, row, button)},
      element("th", {scope: "row", role: "rowheader", class: "id"}, name), ...cells);
    return opened ? [row, this.details(number)] : [row];
  }

  /** @param {number} number */
  details(number) { return this.across("details", this.listing.details(number)); }

  /**
   * A row of one cell.
   * @param {string} kind
   * @param {(Node | string)[]} content
   */
  across(kind, content) {
    const whole = cell(null, ...content);
    whole.colSpan = this.heads.cells.length;
    return element("tr", {class: kind, role: "row"}, whole);
  }

  /**
   * A click anywhere on a row, unless it ended a selection of text.
   * @param {number} number
   * @param {HTMLTableRowElement} row
   * @param {HTMLButtonElement} button
   */
  clicked(number, row, button) {
    if (String(getSelection())) return;
    const opens = !this.open.delete(number);
    if (opens) {
      this.open.add(number);
      row.after(this.details(number));
    } else {
      row.nextElementSibling?.remove();
    }
    button.setAttribute("aria-expanded", String(opens));
  }
}
