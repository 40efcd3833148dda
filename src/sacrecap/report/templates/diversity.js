// The page of caption sets: its blocks, and the systems that the reader hides.

import {chartsOf} from "./charts.js";
import {carried, choice, corpusScore, element, legend, note, section, signed, whole} from "./dom.js";
import {levelName, showFacts} from "./facts.js";
import {chooser, systemName} from "./marks.js";
import {setImages} from "./set_images.js";
import {cell, head, row, scrolling, table} from "./table.js";

/** @type {SetsPage} */
const report = await unpacked(carried().gzip);

/**
 * Numbers of the systems that are not shown.
 * @type {Set<number>}
 */
const hidden = new Set();

showFacts(report, [
  ["Images", whole(report.total)],
  ["Systems", whole(report.systems.filter((system) => !system.people).length)],
  ["Tokenizer", report.tokenizer],
]);
const own = report.systems.flatMap((system) => system.notes.map((text) => `${system.name}: ${text}`));
document.querySelector("main")?.append(...[...report.notes, ...own].map(note));

section("figures", "Systems", [], scrolling("figures", table("figures",
  [head(null, ""), ...report.systems.map((_, number) => head(null, systemName(report, number)))],
  [...report.figures.map(figureRow),
    row(report.systems.map((system) => cell(null, whole(system.vocabulary))), "Vocabulary"),
    row(report.systems.map((system) => cell(null, system.count)), "Captions per image")])),
legend("↑ more is more diverse, or more accurate; ↓ less is more diverse. "
  + (report.level === null ? "" : `Below each figure its ${levelName(report)} interval.`)));

const tested = report.figures.filter(({key}) => report.pairs.some((pair) => pair.metric === key));
if (tested.length) {
  const place = element("div");
  const by = choice("by", tested.map(({label}) => label), (number) => place.replaceChildren(tests(tested[number].key)));
  place.replaceChildren(tests(tested[0].key));
  section("tests", "Differences", [by.label, legend("Paired bootstrap over images; p is two-sided, corrected (Holm) for the "
    + "number of pairs of systems.")], place);
}

const plots = chartsOf(report, hidden);
section("plots", "Pictures", [], chooser(report, hidden, () => {
  plots.forEach((plot) => plot.draw());
  list.turn(list.page);
}), element("div", {class: "plots"}, ...plots.map((plot) => plot.node)));
const list = setImages(report, hidden);

/** @param {SetsFigure} figure */
function figureRow({label, lower, signatures, values}) {
  const made = row(values.map((given) => {
    if (given === null) return cell("nothing", "–");
    const {value, interval} = given;
    const bounds = interval === null ? []
      : [element("span", {class: "bounds"}, interval.map(corpusScore).join(" – "))];
    return cell(null, corpusScore(value), ...bounds);
  }), label, element("span", {class: "way"}, lower ? " ↓" : " ↑"));
  made.cells[0].title = signatures.join("\n");
  return made;
}

/**
 * The tests of every two systems by the metric of this key.
 * @param {string} key
 */
function tests(key) {
  const number = (/** @type {string} */ name) =>
    report.systems.findIndex((system) => !system.people && system.name === name);
  return scrolling("tests", table("tests",
    ["System", "minus system", "Difference", `${levelName(report)} interval`, "p"].map((name) => head(null, name)),
    report.pairs.filter(({metric}) => metric === key).map((pair) => row([
      cell(null, systemName(report, number(pair.b))), cell(null, signed(pair.delta)),
      cell(null, (pair.interval ?? []).map((end) => signed(end)).join(" to ")),
      cell(null, String(parseFloat(pair.p_corrected.toPrecision(3)))),
    ], systemName(report, number(pair.a))))));
}

/** @param {string} text */
async function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}
