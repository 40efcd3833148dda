// The page of one system: the best and the worst images as cards, histograms whose bars select images, and all images in a
// list with a column per metric to sort by.

import {besidePhoto, carried, cell, choice, drawing, element, fill, head, imageScore, images, listed, markedCandidate, photo,
  referenceList, scoreList} from "./common.js";

const CARDS = 4;

/** @type {ScorePage} */
const report = carried;

// The best and the worst images by a metric, side by side.
const extremes = element("div");
let count = CARDS;
const ranking = choice("by", report.metrics.map(({label}) => label), () => { count = CARDS; drawExtremes(); });
ranking.select.id = "extremes-metric";
ranking.number = report.lead;
fill("extremes", ranking.label, extremes);
drawExtremes();

/** @typedef {{node: SVGElement, metric: ScoredMetric, range: string, holds: (score: number) => boolean}} Bar */
/** @type {Bar | null} */
let chosen = null;
const chip = element("button", {type: "button", class: "chip", hidden: "", click: () => choose(null)});
const charts = [...document.querySelectorAll(".histogram")].map((figure, number) =>
  histogram(figure, report.metrics[number]));

/**
 * What the list can be sorted by; `orders` names the ascending and the descending order.
 * @type {{label: string, kind: string, orders: string[], value: (number: number) => string | number | null}[]}
 */
const columns = [
  {label: "Image", kind: "id", orders: ["A to Z", "Z to A"], value: (number) => report.images[number].id},
  {label: "Candidate", kind: "caption", orders: ["A to Z", "Z to A"],
    value: (number) => report.images[number].candidates[0] ?? ""},
  ...report.metrics.map(({label, scores}) => ({label, kind: "score", orders: ["lowest first", "highest first"],
    value: (/** @type {number} */ number) => scores[number]})),
];
/** The number of the column sorted by, and whether in descending order. */
const sorted = () => ({column: Math.floor(list.order.number / 2), descending: list.order.number % 2 === 1});
// The column sorted by, or the lead metric's, is the one score column that narrow screens show.
const marked = () => (sorted().column < 2 ? 2 + report.lead : sorted().column);
const heads = columns.map(({label, kind}, number) => head(kind, element("button", {type: "button", click: () => {
  const {column, descending} = sorted();
  list.order.number = 2 * number + Number(number === column ? !descending : kind === "score");
  list.update();
}}, label)));

const list = listed({
  kind: report.metrics.length > 12 ? "wide" : "",
  caption: "Scores of the images, one row per image; a row opens to its references.",
  placeholder: "id, candidate or references",
  items: report.images,
  most: 50,
  ordered: "Sort by",
  // Equal images stay in the corpus's order.
  orders: () => columns.flatMap(({label, orders, value}) =>
    orders.map((order, down) => ({name: `${label}, ${order}`, value, rising: down === 0}))),
  controls: (order) => [order, chip],
  passes: (number) => {
    const score = chosen?.metric.scores[number];
    return chosen === null || (typeof score === "number" && chosen.holds(score));
  },
  heads: () => heads.map((head, number) => {
    const {column, descending} = sorted();
    head.setAttribute("aria-sort", number !== column ? "none" : descending ? "descending" : "ascending");
    head.classList.toggle("marked", number === marked());
    return head;
  }),
  cells: (number) => [cell("caption", report.images[number].candidates[0] ?? ""), ...report.metrics.map(({scores}, place) =>
    cell(2 + place === marked() ? "score marked" : "score", imageScore(scores[number])))],
  details: (number, large) => {
    // The figure of the statements has both sides, with more marks.
    const sides = report.marked?.[number] ? [] : [candidate(number), referenceList(report.images[number].references)];
    const drawn = drawing(number);
    const explained = drawn.length || !report.unexplained ? drawn : [element("p", {class: "legend"}, report.unexplained)];
    return [...besidePhoto(large, ...sides), ...explained, allScores(number)];
  },
});
list.order.label.classList.add("sort");
list.order.number = 2 * (2 + report.lead) + 1;
list.update();

function drawExtremes() {
  const metric = report.metrics[ranking.number];
  const sign = metric.lower_is_better ? -1 : 1;
  // Images that have a score, best first; equal scores in the corpus's order.
  const order = metric.scores.flatMap((score, number) => (score === null ? [] : [{score, number}]))
    .sort((a, b) => sign * (b.score - a.score));
  // No image is in both lists, however few there are.
  const best = order.slice(0, Math.min(count, Math.ceil(order.length / 2)));
  const worst = order.slice(best.length).slice(-count).reverse();
  const more = element("button", {type: "button", class: "more", click: () => { count += CARDS; drawExtremes(); }}, "Show more");
  const sides = [best, worst].map((side, at) => {
    const name = ["Best", "Worst"][at];
    return element("div", {class: name.toLowerCase()}, element("h3", {}, name), ...side.map(({score, number}) => {
      const image = report.images[number];
      return element("article", {class: "card"},
        element("h4", {}, element("span", {class: "id"}, image.id), element("span", {class: "value"}, imageScore(score))),
        ...besidePhoto(photo(image), candidate(number), referenceList(image.references), allScores(number, metric)));
    }));
  });
  extremes.replaceChildren(element("div", {class: "columns"}, ...sides),
    ...(best.length + worst.length < order.length ? [more] : []));
}

/** @param {number} number of an image whose candidate has marks by the metric that makes some */
function candidate(number) {
  const {candidates, references} = report.images[number];
  return markedCandidate(candidates[0], report.marked ? [] : references, report.marked?.[number]);
}

/** @type {(number: number, looked?: ScoredMetric) => HTMLElement} An image's scores; that by the metric looked at stands out. */
function allScores(number, looked) {
  return scoreList(report.metrics.map((own) => ({label: own.label, score: own.scores[number], looked: own === looked})));
}

/** @param {Bar | null} bar whose images are shown; all without one */
function choose(bar) {
  chosen = bar;
  charts.forEach((mark) => mark());
  chip.hidden = bar === null;
  if (bar) {
    const range = `${bar.metric.label} ${bar.range}`;
    chip.replaceChildren(range, element("span", {"aria-hidden": "true"}, " ×"));
    chip.setAttribute("aria-label", `Remove the filter ${range}`);
  }
  list.update();
}

/**
 * Makes the bars of a histogram buttons that choose; the returned function shows which one is chosen.
 * @type {(figure: Element, metric: ScoredMetric) => () => void}
 */
function histogram(figure, metric) {
  const readout = element("span", {class: "readout"});
  figure.querySelector("figcaption")?.append(readout);
  const nodes = /** @type {NodeListOf<SVGElement>} */ (figure.querySelectorAll(".bar"));
  /** Says what the bar holds, or, with none, the median and how many images have no score. */
  const tell = (bar = bars.find((bar) => bar === chosen)) => {
    const {median, unscored} = metric;
    readout.replaceChildren(bar ? `${bar.range}: ${images(Number(bar.node.dataset.count))}`
      : `median ${imageScore(median)}${unscored ? ` · ${images(unscored)} without a score` : ""}`);
    if (bar && bar === chosen) readout.append(" · ", element("a", {href: "#images"}, "see them"));
  };
  const bars = [...nodes].map((node, bin) => {
    const [low, high] = [Number(node.dataset.low), Number(node.dataset.high)];
    const bar = {node, metric, range: `${low} to ${high}`,
      // A bin holds its lower edge, the last bin its upper one too.
      holds: (/** @type {number} */ score) => (low <= score || bin === 0) && (score < high || bin === nodes.length - 1)};
    const press = () => choose(bar === chosen ? null : bar);
    node.setAttribute("role", "button");
    node.setAttribute("tabindex", bin ? "-1" : "0");
    node.addEventListener("click", press);
    for (const event of ["mouseenter", "focus"]) node.addEventListener(event, () => tell(bar));
    node.addEventListener("keydown", (event) => {
      /** @type {Record<string, number>} */
      const ways = {ArrowLeft: bin - 1, ArrowRight: bin + 1, Home: 0, End: nodes.length - 1};
      const pressing = event.key === "Enter" || event.key === " ";
      if (!pressing && !(event.key in ways)) return;
      event.preventDefault();
      const to = nodes[ways[event.key]];
      if (pressing) press();
      else if (to) {
        nodes.forEach((other) => other.setAttribute("tabindex", other === to ? "0" : "-1"));
        to.focus();
      }
    });
    return bar;
  });
  figure.addEventListener("mouseleave", () => tell());
  figure.addEventListener("focusout", (event) => {
    // Not while the focus moves to the link in the readout: an update would replace the link.
    const to = /** @type {FocusEvent} */ (event).relatedTarget;
    if (!figure.contains(/** @type {Node | null} */ (to))) tell();
  });
  const mark = () => {
    bars.forEach((bar) => bar.node.setAttribute("aria-pressed", String(bar === chosen)));
    tell();
  };
  mark();
  return mark;
}
