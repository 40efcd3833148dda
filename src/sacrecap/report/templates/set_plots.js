// The pictures of whole systems: the plane, F, vocabulary, words by rank, the number of captions.

import {corpusScore, element, shape, whole} from "./dom.js";
import {levelName} from "./facts.js";
import {inkOf, markOf} from "./marks.js";
import {MARGIN, Plot, around, label, linear, logarithmic, path, tickName} from "./plot.js";

/**
 * Draws them; what is left out says why. Numbers in `hidden` are systems not to show.
 * @param {SetsPage} report
 * @param {Set<number>} hidden
 */
export function plotsOf(report, hidden) {
  const {plane, f, vocabulary, captions} = report.pictures;
  const crosses = report.level === null ? "" : ` Crosses are ${levelName(report)} intervals.`;
  const curves = report.curves ? " Dashed lines join places of equal F." : "";
  const best = "Of the K most accurate captions of each set; people have all of theirs.";
  return [
    made("Diversity and accuracy", `Up and right is better.${crosses}${curves}`, plane,
      (plot, rows) => paintPlane(plot, report, visible(report, rows, hidden))),
    made(`F (β² = ${report.beta2})`, "Diversity and accuracy in one number; more is better.", f,
      (plot, rows) => paintF(plot, visible(report, rows, hidden)), 44),
    made("Vocabulary and diversity", "More distinct words, and captions of an image that differ.", vocabulary,
      (plot, rows) => paintVocabulary(plot, report, visible(report, rows, hidden))),
    made("Words by rank", "Both axes are logarithmic; a line ends at the last word of the vocabulary, or at the 5,000th.",
      report.words, (plot, rows) => paintWords(plot, report, rows, hidden)),
    made("Diversity by number of captions", best, captions,
      (plot, rows) => paintCaptions(plot, report, visible(report, rows, hidden), "diversity", report.spread)),
    made("Accuracy by number of captions", best, captions,
      (plot, rows) => paintCaptions(plot, report, visible(report, rows, hidden), "accuracy", report.accuracy)),
  ].flat();
}

/**
 * A picture on the page, in a list of one; instead of rows, what says why there is none.
 * @template Row
 * @param {string} title
 * @param {string} note
 * @param {Row[] | string} rows
 * @param {(plot: Plot, rows: Row[]) => void} paint
 * @param {number} height that a row needs
 */
function made(title, note, rows, paint, height = 0) {
  if (typeof rows === "string") {
    return [{node: element("p", {class: "note left-out"}, `${title} is left out: ${rows}.`), draw: () => {}}];
  }
  const least = height && MARGIN.top + MARGIN.bottom + height * rows.length;
  const plot = new Plot(title, note, (drawn) => paint(drawn, rows), least);
  return [{node: plot.figure, draw: () => plot.draw()}];
}

/**
 * @template Row
 * @typedef {{system: SetsSystem, row: Row}} Shown a row of a picture and its system
 */

/**
 * The rows with their systems, without the hidden ones.
 * @template {{system: string, kind: string}} Row
 * @param {SetsPage} report
 * @param {Row[]} rows
 * @param {Set<number>} hidden
 * @returns {Shown<Row>[]}
 */
function visible({systems}, rows, hidden) {
  return rows.flatMap((row) => {
    const number = systems.findIndex((system) =>
      (row.kind === "people" ? system.people : !system.people && system.name === row.system));
    return hidden.has(number) ? [] : [{system: systems[number], row}];
  });
}

/**
 * @param {number} value
 * @param {number | null} lower
 * @param {number | null} upper
 */
const figureName = (value, lower, upper) =>
  corpusScore(value) + (lower === null || upper === null ? "" : ` (${corpusScore(lower)} to ${corpusScore(upper)})`);

/**
 * @param {Plot} plot
 * @param {SetsPage} report
 * @param {Shown<PlaneRow>[]} shown
 */
function paintPlane(plot, report, shown) {
  if (!shown.length) return;
  const x = around(shown.flatMap(({row}) => [row.diversity, row.diversity_lower, row.diversity_upper]), 1.02);
  const y = around(shown.flatMap(({row}) => [row.accuracy, row.accuracy_lower, row.accuracy_upper]));
  plot.axes({label: `Diversity: ${report.spread} →`, ends: x}, {label: `${report.accuracy} →`, ends: y},
    report.curves ? 44 : undefined);
  if (report.curves) equalF(plot, report.beta2, x, y);
  for (const {system, row} of shown) {
    const {diversity, diversity_lower: left, diversity_upper: right} = row;
    const {accuracy, accuracy_lower: low, accuracy_upper: high} = row;
    if (left !== null && right !== null) plot.put(bar(plot, system, [left, accuracy], [right, accuracy]));
    if (low !== null && high !== null) plot.put(bar(plot, system, [diversity, low], [diversity, high]));
    plot.spot(system, plot.x.at(diversity), plot.y.at(accuracy), `${system.name}: ${report.spread} ${
      figureName(diversity, left, right)}, ${report.accuracy} ${figureName(accuracy, low, high)}`, 7);
  }
}

/**
 * An interval, between two places in values.
 * @param {Plot} plot
 * @param {SetsSystem} system
 * @param {...[number, number]} ends
 */
const bar = (plot, system, ...ends) =>
  path("cross", ends.map(([x, y]) => [plot.x.at(x), plot.y.at(y)]), inkOf(system));

/**
 * Lines of equal F = (1 + β²)·d·a / (β²·d + a).
 * @param {Plot} plot
 * @param {number} beta2
 * @param {[number, number]} across
 * @param {[number, number]} up
 */
function equalF(plot, beta2, [left, right], [low, high]) {
  const most = ((1 + beta2) * right * high) / (beta2 * right + high);
  for (const level of linear(0, most, 0, 1, 7).ticks.filter((tick) => tick > 0)) {
    const accuracy = (/** @type {number} */ d) => (beta2 * d * level) / ((1 + beta2) * d - level);
    if ((1 + beta2) * right <= level || accuracy(right) < low || accuracy(right) > high) continue;
    const points = Array.from({length: 200}, (_, step) => left + ((right - left) * (step + 1)) / 200)
      .filter((d) => (1 + beta2) * d > level && accuracy(d) <= high);
    plot.put(path("equal", points.map((d) => [plot.x.at(d), plot.y.at(accuracy(d))]), null),
      label("tick", plot.x.at(right) + 5, plot.y.at(accuracy(right)) + 4, `F ${tickName(level)}`, "start"));
  }
}

/**
 * @param {Plot} plot
 * @param {Shown<FRow>[]} shown
 */
function paintF(plot, shown) {
  const most = Math.max(...shown.flatMap(({row}) => [row.f, row.lower ?? 0, row.upper ?? 0]), 0) * 1.15 || 1;
  const line = Math.min((plot.height - MARGIN.bottom - MARGIN.top) / Math.max(shown.length, 1), 58);
  plot.axes({label: "F →", ends: [0, most]}, {label: "", ends: [0, 1], scale: () => ({at: () => 0, ticks: []})});
  shown.forEach(({system, row: {f, lower, upper}}, place) => {
    const top = MARGIN.top + place * line;
    const drawn = shape("rect", {class: "f-bar", x: plot.x.at(0), y: top + 0.48 * line, height: 0.34 * line,
      width: plot.x.at(f) - plot.x.at(0), fill: inkOf(system)});
    const name = `\u2068${shortened(system.name, Math.floor(plot.width / 14))}\u2069  ${corpusScore(f)}`;
    plot.put(markOf(system, MARGIN.left + 9, top + 0.28 * line, 5),
      label("name", MARGIN.left + 20, top + 0.28 * line + 4, name, "start"),
      plot.telling(drawn, `${system.name}: F ${figureName(f, lower, upper)}`));
    if (lower !== null && upper !== null) {
      const middle = top + 0.65 * line;
      plot.put(path("whisker", [[plot.x.at(lower), middle], [plot.x.at(upper), middle]], "currentColor"));
    }
  });
}

/**
 * @param {string} text
 * @param {number} most
 */
const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

/**
 * @param {Plot} plot
 * @param {SetsPage} report
 * @param {Shown<VocabularyRow>[]} shown
 */
function paintVocabulary(plot, report, shown) {
  if (!shown.length) return;
  plot.axes({label: `Diversity: ${report.spread} →`,
    ends: around(shown.flatMap(({row}) => [row.diversity, row.lower, row.upper]), 1.02)},
  {label: "Distinct words →", ends: [0, Math.max(...shown.map(({row}) => row.vocabulary)) * 1.12 || 1]});
  for (const {system, row: {vocabulary, captions, diversity, lower, upper}} of shown) {
    if (lower !== null && upper !== null) plot.put(bar(plot, system, [lower, vocabulary], [upper, vocabulary]));
    plot.spot(system, plot.x.at(diversity), plot.y.at(vocabulary), `${system.name}: ${whole(vocabulary)} distinct words in ${
      whole(captions ?? 0)} captions, ${report.spread} ${figureName(diversity, lower, upper)}`, 7);
  }
}

/**
 * @param {Plot} plot
 * @param {SetsPage} report
 * @param {SystemWords[]} all
 * @param {Set<number>} hidden
 */
function paintWords(plot, report, all, hidden) {
  const shown = all.map(({words, shares}, number) => ({words, shares, number}))
    .filter(({number, words}) => words.length && !hidden.has(number));
  if (!shown.length) return;
  const lasts = shown.map(({shares}) => shares[shares.length - 1]);
  plot.axes(
    {label: "Rank of the word", ends: [1, Math.max(...shown.map(({words}) => words.length), 2)], scale: logarithmic},
    {label: "In 1,000 words", ends: [Math.min(...lasts) * 0.8, Math.max(...shown.map(({shares}) => shares[0])) * 1.2],
      scale: logarithmic});
  for (const {words, shares, number} of shown) {
    const system = report.systems[number];
    plot.put(path("curve", shares.map((share, place) => [plot.x.at(place + 1), plot.y.at(share)]), inkOf(system)));
    for (const rank of new Set([1, 3, 10, 30, 100, 300, 1000, 3000, words.length])) {
      if (rank > words.length) continue;
      plot.spot(system, plot.x.at(rank), plot.y.at(shares[rank - 1]),
        `${system.name}: word ${whole(rank)} is “${words[rank - 1]}”, ${tickName(shares[rank - 1])} in 1,000 words`, 4);
    }
  }
}

/**
 * @param {Plot} plot
 * @param {SetsPage} report
 * @param {Shown<CaptionsRow>[]} shown
 * @param {"diversity" | "accuracy"} field
 * @param {string | null} name
 */
function paintCaptions(plot, report, shown, field, name) {
  if (!shown.length) return;
  const counts = shown.map(({row}) => row.captions);
  plot.axes({label: "Captions per image (K)", ends: [Math.min(...counts) - 0.5, Math.max(...counts) + 0.5],
    scale: (...ends) => ({...linear(...ends), ticks: [...new Set(counts)]})},
  {label: `${name} →`, ends: [0, Math.max(...shown.map(({row}) => row[field])) * 1.1 || 1]});
  for (const system of report.systems) {
    const own = shown.filter((one) => one.system === system).map(({row}) => row);
    plot.put(path("curve", own.map((row) => [plot.x.at(row.captions), plot.y.at(row[field])]), inkOf(system)));
    own.forEach((row) => plot.spot(system, plot.x.at(row.captions), plot.y.at(row[field]),
      `${system.name}, ${row.captions} captions: ${name} ${corpusScore(row[field])}`, 5));
  }
}
