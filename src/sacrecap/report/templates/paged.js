// A table of images, page by page, whose rows open.

import {element, whole} from "./dom.js";

/** Tables say what their `rows`, the `details` below an open one, and `nothing` are. */
export class PagedTable {
  /**
   * @param {number} most rows on a page
   * @param {HTMLTableSectionElement} body takes the rows
   */
  constructor(most, body) {
    this.most = most;
    this.body = body;
    /** @type {Set<number>} */
    this.open = new Set();
    this.page = 0;
    this.pages = 1;
    /** @type {number[]} */
    this.found = [];
    const turn = (/** @type {string} */ name, /** @type {() => number} */ to) =>
      element("button", {type: "button", click: () => this.turn(to())}, name);
    this.back = [turn("First", () => 0), turn("Previous", () => this.page - 1)];
    this.forth = [turn("Next", () => this.page + 1), turn("Last", () => this.pages - 1)];
    this.place = element("span", {class: "place"});
    this.pager = element("nav", {class: "pager", "aria-label": "Pages of the table"},
      ...this.back, this.place, ...this.forth);
  }

  /**
   * An image's row, and below it, where open, its details.
   * @param {number} _number
   * @returns {HTMLTableRowElement[]}
   */
  rows(_number) { return []; }

  /**
   * @param {number} _number
   * @returns {HTMLTableRowElement}
   */
  details(_number) { return element("tr"); }

  /**
   * What stands in the place of rows where there are none.
   * @returns {HTMLTableRowElement}
   */
  nothing() { return element("tr"); }

  /**
   * Shows the first of the images with these numbers.
   * @param {number[]} found
   */
  list(found) {
    this.found = found;
    this.pages = Math.max(Math.ceil(found.length / this.most), 1);
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
    this.forth.forEach((button) => { button.disabled = page >= this.pages - 1; });
    this.body.replaceChildren(...(shown.length ? shown.flatMap((number) => this.rows(number)) : [this.nothing()]));
  }

  /**
   * A click anywhere on a row, unless it ended a selection of text.
   * @param {number} number
   * @param {HTMLTableRowElement} row
   * @param {HTMLButtonElement} button
   */
  clicked(number, row, button) {
    if (!String(getSelection())) this.toggle(number, row, button);
  }

  /**
   * @param {number} number
   * @param {HTMLTableRowElement} row
   * @param {HTMLButtonElement} button
   */
  toggle(number, row, button) {
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
