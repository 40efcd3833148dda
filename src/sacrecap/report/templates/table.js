// A table with a name at the head of each row. The roles keep it a table for assistive software when narrow screens show
// its rows as blocks.

import {element} from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */

/**
 * A cell of a row: what stands in it, and its class.
 * @param {string | null} kind
 * @param {...Child} content
 */
export const cell = (kind, ...content) => element("td", {class: kind, role: "cell"}, ...content);

/**
 * A head of a column; `title` is shown when it is pointed at.
 * @param {string | null} kind
 * @param {Child} content
 * @param {string | null} title
 */
export const head = (kind, content, title = null) =>
  element("th", {class: kind, role: "columnheader", scope: "col", title}, content);

/**
 * A row of a table: its name, then its cells.
 * @param {HTMLTableCellElement[]} cells
 * @param {...Child} name
 */
export const row = (cells, ...name) =>
  element("tr", {role: "row"}, element("th", {scope: "row", role: "rowheader"}, ...name), ...cells);

/**
 * @param {string} kind
 * @param {HTMLTableCellElement[]} heads
 * @param {HTMLTableRowElement[]} rows
 */
export const table = (kind, heads, rows) => element("table", {class: kind, role: "table"},
  element("thead", {role: "rowgroup"}, element("tr", {role: "row"}, ...heads)),
  element("tbody", {role: "rowgroup"}, ...rows));

/**
 * A table that may be wider than the page: it scrolls by itself, with the arrow keys too.
 * @param {string} section the id of its section
 * @param {HTMLTableElement} wide
 */
export const scrolling = (section, wide) =>
  element("div", {class: "wide-table", tabindex: "0", role: "group", "aria-labelledby": `${section}-heading`}, wide);
