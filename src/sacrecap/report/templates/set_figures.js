// What was scored: facts, the table of figures by system, and the paired tests.

import {byId, corpusScore, element, whole} from "./dom.js";
import {levelName, showFacts} from "./facts.js";
import {systemName} from "./marks.js";

/** @param {SetsPage} report */
export function showSetFacts(report) {
  showFacts(report, [
    ["Images", whole(report.total)],
    ["Systems", whole(report.systems.filter((system) => !system.people).length)],
    ["Tokenizer", report.tokenizer],
  ]);
  const own = report.systems.flatMap((system) => system.notes.map((note) => `${system.name}: ${note}`));
  byId("notes").append(...[...report.notes, ...own].map((note) => element("p", {class: "note"}, note)));
}

/** @param {SetsPage} report */
export function showFigures(report) {
  const head = report.systems.map((_, number) => element("th", {scope: "col"}, systemName(report, number)));
  byId("figures").append(element("table", {class: "figures"},
    element("thead", {}, element("tr", {}, element("td", {}), ...head)),
    element("tbody", {}, ...report.figures.map((figure) => figureRow(figure)),
      plainRow("Vocabulary", report.systems.map((system) => whole(system.vocabulary))),
      plainRow("Captions per image", report.systems.map((system) => system.count)))));
  byId("figures-legend").textContent =
    "↑ more is more diverse, or more accurate; ↓ less is more diverse. "
    + (report.level === null ? "" : `Below each figure its ${levelName(report)} interval.`);
}

/** @param {SetsFigure} figure */
function figureRow(figure) {
  const name = element("th", {scope: "row", title: figure.signatures.join("\n")}, figure.label,
    element("span", {class: "way"}, figure.lower ? " ↓" : " ↑"));
  return element("tr", {}, name, ...figure.values.map((given) => {
    if (given === null) return element("td", {class: "nothing"}, "–");
    const {value, interval} = given;
    const range = interval === null ? [] : [element("span", {class: "interval"}, interval.map(corpusScore).join(" – "))];
    return element("td", {}, element("span", {class: "value"}, corpusScore(value)), ...range);
  }));
}

/**
 * @param {string} name
 * @param {string[]} cells
 */
const plainRow = (name, cells) =>
  element("tr", {}, element("th", {scope: "row"}, name), ...cells.map((cell) => element("td", {}, cell)));

/** @param {SetsPage} report */
export function showTests(report) {
  const section = byId("tests-section");
  section.hidden = report.pairs.length === 0;
  const metrics = [...new Set(report.pairs.map((pair) => pair.metric))];
  const labels = Object.fromEntries(report.figures.map((figure) => [figure.key, figure.label]));
  const select = /** @type {HTMLSelectElement} */ (byId("tests-metric"));
  select.append(...metrics.map((metric) => element("option", {value: metric}, labels[metric])));
  const draw = () => byId("tests").replaceChildren(
    testTable(report, report.pairs.filter((pair) => pair.metric === select.value)));
  select.addEventListener("change", draw);
  draw();
}

/**
 * @param {SetsPage} report
 * @param {SetsPair[]} pairs
 */
function testTable(report, pairs) {
  const heads = ["System", "minus system", "Difference", `${levelName(report)} interval`, "p"];
  const number = (/** @type {string} */ name) => report.systems.findIndex((system) => !system.people && system.name === name);
  const signed = (/** @type {number} */ value) => (value < 0 ? "−" : "+") + corpusScore(Math.abs(value));
  return element("table", {class: "tests"},
    element("thead", {}, element("tr", {}, ...heads.map((head) => element("th", {scope: "col"}, head)))),
    element("tbody", {}, ...pairs.map((pair) => element("tr", {},
      element("td", {}, systemName(report, number(pair.a))), element("td", {}, systemName(report, number(pair.b))),
      element("td", {}, signed(pair.delta)), element("td", {}, (pair.interval ?? []).map(signed).join(" to ")),
      element("td", {}, String(parseFloat(pair.p_corrected.toPrecision(3))))))));
}
