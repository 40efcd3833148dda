// Cells and heads of the tables that scripts fill. The roles keep them a table for assistive software when narrow screens
// show its rows as blocks.

import {element} from "./dom.js";

/** @typedef {import("./dom.js").Child} Child */

/**
 * A cell of a row: what stands in it, and its class.
 * @param {string | null} kind
 * @param {...Child} content
 */
export const cell = (kind, ...content) => element("td", {class: kind, role: "cell"}, ...content);

/**
 * @param {string | null} kind
 * @param {Child} content
 */
export const head = (kind, content) => element("th", {class: kind, role: "columnheader", scope: "col"}, content);
