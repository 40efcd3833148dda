// What was scored and how: the facts at the head of a page.

import {byId, element, whole} from "./dom.js";

/** @param {{level: number | null}} report */
export const levelName = ({level}) => (level === null ? "" : `${parseFloat((100 * level).toPrecision(6))}%`);

/**
 * Shows them, and after them what every page says.
 * @param {{level: number | null, version: string, method?: string}} report
 * @param {[name: string, value: string][]} facts
 */
export function showFacts(report, facts) {
  const method = report.method === "jackknife" ? "jackknife" : "bootstrap";
  const intervals = report.level === null ? "none" : `${levelName(report)}, ${method} over images`;
  byId("facts").append(...[...facts, ["Intervals", intervals], ["sacrecap", report.version]].map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

/**
 * The least and the greatest number of references per image has.
 * @param {{references: [number, number]}} report
 */
export const referencesName = ({references: [least, most]}) =>
  (least === most ? whole(least) : `${whole(least)} to ${whole(most)}`);
