// The page of one system: the best and the worst images as cards, histograms whose bars select images, and all images in a
// list with a column per metric to sort by.

import {besidePhoto, carried, cell, choice, drawing, element, fill, imageScore, images, listed, markedCandidate, photo,
  referenceList, scoreList} from "./common.js";

const CARDS = 4;

/**
 * A bar chosen: of which metric, how its range is called, and which scores it holds.
 * @typedef {{metric: ScoredMetric, range: string, holds: (score: number) => boolean}} Chosen
 *
 * What the list can be sorted by; `orders` names the ascending and the descending order, `scores` are a metric's.
 * @typedef {{label: string, kind: string, orders: string[], compare: (a: number, b: number) => number,
 *   scores?: (number | null)[]}} Column
 */

/** @type {ScorePage} */
const report = await carried();

// The best and the worst images by a metric, side by side.
const extremes = element("div");
let count = CARDS;
const ranking = choice("by", report.metrics.map(({label}) => label), () => { count = CARDS; drawExtremes(); },
  {id: "extremes-metric"});
ranking.pick(report.lead);
fill("extremes", [ranking.label], extremes);
drawExtremes();

/** @type {Chosen | null} */
let chosen = null;
const chip = element("button", {type: "button", class: "chip", hidden: "", click: () => choose(null)});
const charts = [...document.querySelectorAll(".histogram")].map((figure, number) =>
  histogram(figure, report.metrics[number]));

const collator = new Intl.Collator("en", {numeric: true});
/** @type {(label: string, kind: string, value: (image: PageImage) => string) => Column} */
const text = (label, kind, value) => ({label, kind, orders: ["A to Z", "Z to A"],
  compare: (a, b) => collator.compare(value(report.images[a]), value(report.images[b]))});
/** @type {Column[]} */
const columns = [
  text("Image", "id", (image) => image.id),
  text("Candidate", "caption", (image) => image.candidates[0] ?? ""),
  ...report.metrics.map(({label, scores}) => ({label, kind: "score", orders: ["lowest first", "highest first"], scores,
    compare: (/** @type {number} */ a, /** @type {number} */ b) => (scores[a] ?? 0) - (scores[b] ?? 0)})),
];
let column = columns[2 + report.lead];
let descending = true;
const select = element("select", {change: () => {
  const [number, down] = select.value.split(" ").map(Number);
  sort(columns[number], down === 1);
}}, ...columns.flatMap(({label, orders}, number) => orders.map((name, down) =>
  element("option", {value: `${number} ${down}`}, `${label}, ${name}`))));
const heads = columns.map((own) => element("th", {scope: "col", role: "columnheader", class: own.kind},
  element("button", {type: "button", click: () =>
    sort(own, own === column ? !descending : own.kind === "score")}, own.label)));
// The column sorted by, or the lead metric's, is the one score column that narrow screens show.
const marked = () => (column.kind === "score" ? column : columns[2 + report.lead]);
const lacks = (/** @type {number} */ number) => Number(column.scores?.[number] === null);

const list = listed({
  kind: report.metrics.length > 12 ? "wide" : "",
  caption: "Scores of the images, one row per image; a row opens to its references.",
  placeholder: "id, candidate or references",
  texts: report.images.map(({id, candidates, references}) => [id, candidates[0] ?? "", ...references].join("\n")),
  most: 50,
  controls: [element("label", {class: "control sort"}, "Sort by ", select), chip],
  passes: (number) => {
    const score = chosen?.metric.scores[number];
    return chosen === null || (typeof score === "number" && chosen.holds(score));
  },
  // Images without a score come last in either direction; equal ones stay in the corpus's order.
  compare: (a, b) => lacks(a) - lacks(b) || (descending ? -1 : 1) * column.compare(a, b),
  heads: () => heads.map((head, number) => {
    const direction = descending ? "descending" : "ascending";
    head.setAttribute("aria-sort", columns[number] === column ? direction : "none");
    head.classList.toggle("marked", columns[number] === marked());
    return head;
  }),
  row: (number) => {
    const image = report.images[number];
    return {id: image.id, photo: photo(image, "row"),
      cells: [cell("caption", image.candidates[0] ?? ""), ...report.metrics.map(({scores}) =>
        cell(scores === marked().scores ? "score marked" : "score", imageScore(scores[number])))]};
  },
  details: (number) => {
    const image = report.images[number];
    // The figure of the statements has both sides, with more marks.
    const sides = report.marked?.[number] ? [] : [candidate(number), referenceList(image.references)];
    const drawn = drawing(report, number);
    const explained = drawn.length || !report.unexplained ? drawn : [element("p", {class: "legend"}, report.unexplained)];
    return [...besidePhoto(photo(image, "large", drawing(report, number, "boxes")), ...sides), ...explained, allScores(number)];
  },
});
fill("images", [], ...list.blocks);
sort(column, true);

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

/** @param {Chosen | null} bar whose images are shown; all without one */
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
  const nodes = [...figure.querySelectorAll(".bar")].filter((node) => node instanceof SVGElement);
  const bars = nodes.map((node, bin) => {
    const [low, high] = [Number(node.dataset.low), Number(node.dataset.high)];
    // A bin holds its lower edge, the last bin its upper one too.
    const holds = (/** @type {number} */ score) => (low <= score || bin === 0) && (score < high || bin === nodes.length - 1);
    return {metric, range: `${low} to ${high}`, holds};
  });
  const pressed = () => bars.findIndex((bar) => bar === chosen);
  /** Says what the bar holds, or, with none, the median and how many images have no score. */
  const tell = (bin = pressed()) => {
    const {median, unscored} = metric;
    readout.replaceChildren(bin < 0
      ? `median ${imageScore(median)}${unscored ? ` · ${images(unscored)} without a score` : ""}`
      : `${bars[bin].range}: ${images(Number(nodes[bin].dataset.count))}`);
    if (bin >= 0 && bars[bin] === chosen) readout.append(" · ", element("a", {href: "#images"}, "see them"));
  };
  const focusable = (/** @type {number} */ at) =>
    nodes.forEach((node, bin) => node.setAttribute("tabindex", bin === at ? "0" : "-1"));
  nodes.forEach((node, bin) => {
    const press = () => choose(bars[bin] === chosen ? null : bars[bin]);
    node.setAttribute("role", "button");
    node.addEventListener("click", press);
    for (const event of ["mouseenter", "focus"]) node.addEventListener(event, () => tell(bin));
    node.addEventListener("keydown", (event) => {
      /** @type {Record<string, number>} */
      const ways = {ArrowLeft: bin - 1, ArrowRight: bin + 1, Home: 0, End: nodes.length - 1};
      const pressing = event.key === "Enter" || event.key === " ";
      if (!pressing && !(event.key in ways)) return;
      event.preventDefault();
      const to = ways[event.key];
      if (pressing) press();
      else if (nodes[to]) {
        focusable(to);
        nodes[to].focus();
      }
    });
  });
  figure.addEventListener("mouseleave", () => tell());
  figure.addEventListener("focusout", (event) => {
    // Not while the focus moves to the link in the readout: an update would replace the link.
    const to = /** @type {FocusEvent} */ (event).relatedTarget;
    if (!figure.contains(/** @type {Node | null} */ (to))) tell();
  });
  const mark = () => {
    nodes.forEach((node, bin) => node.setAttribute("aria-pressed", String(bars[bin] === chosen)));
    tell();
  };
  focusable(0);
  mark();
  return mark;
}

/** @type {(by: Column, down: boolean) => void} */
function sort(by, down) {
  [column, descending] = [by, down];
  select.value = `${columns.indexOf(column)} ${Number(descending)}`;
  list.update();
}
