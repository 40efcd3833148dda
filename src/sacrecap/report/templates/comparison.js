// The page of a comparison: the systems and the metric that the reader chose, a point per image that shows its captions when
// it is the nearest, and the images in a list, first those in which the two systems differ most.

import {SIDES, attributed, besidePhoto, byId, carried, choice, element, fill, head, imageScore, images, listed, pairCells, photo,
  referenceList, shape, whole} from "./common.js";

const REACH = 24; // pixels within which a point is the nearest
const LAYERS = 40; // points in one layer do not add up where they overlap, but points of several do
const BETTER = ["second", "equal", "first"]; // which system is better, by the sign of the difference, from −1

/** @type {ComparisonPage} */
const report = carried;
const across = choice("across", report.systems, () => update());
const up = choice("up", report.systems, () => update());
const by = choice("by", report.metrics.map(({label}) => label), () => update());
const choices = [across, up, by];
up.number = 1;
by.number = report.lead;
const cells = [...document.querySelectorAll("table.pairs tbody tr")].map((row, pair) =>
  [...row.querySelectorAll("td")].map((cell, metric) => {
    const button = element("button", {type: "button", "aria-pressed": "false", click: () => {
      [...report.pairs[pair], metric].forEach((number, at) => { choices[at].number = number; });
      update();
    }}, ...cell.childNodes);
    cell.append(button);
    return button;
  }));

const metric = () => report.metrics[by.number];
const sides = () => [across.number, up.number];
const named = () => sides().map((system) => report.systems[system]);
/** The two systems' scores of an image. */
const scores = (/** @type {number} */ number) => sides().map((system) => metric().scores[system][number]);
/** The first system's score of an image less the second's; null where it has none of one of them. */
const more = (/** @type {number} */ number) => {
  const [first, second] = scores(number);
  return first === null || second === null ? null : first - second;
};
choices.forEach(({label}, at) => label.classList.add(["a", "b", "metric"][at]));

// Scores of the images by two systems, one point per image.

/** For each metric the axes, as Python drew them. */
const frames = [...byId("frames").children].filter((frame) => frame instanceof SVGElement);
let svg = frames[0];
/** @typedef {{number: number, gap: number, x: number, y: number}} Point */
/** @type {Point[]} from the first system's best to the second's */
let points = [];
/** @type {Point | undefined} */
let told;
const layers = shape("g");
const box = element("div");
const ring = shape("circle", {class: "told", r: 6});
const tally = element("p", {class: "tally", role: "status"});
const details = element("div", {class: "point", "aria-live": "polite"});
for (const frame of frames) {
  frame.setAttribute("tabindex", "0");
  for (const event of /** @type {const} */ (["pointermove", "pointerdown"])) {
    frame.addEventListener(event, ({clientX, clientY}) => {
      const place = svg.getBoundingClientRect();
      const unit = 400 / place.width; // the frame's width in its own units
      const [x, y] = [unit * (clientX - place.left), unit * (clientY - place.top)];
      let [nearest, least] = [told, REACH ** 2];
      for (const point of points) {
        const distance = (point.x - x) ** 2 + (point.y - y) ** 2;
        if (distance < least) [nearest, least] = [point, distance];
      }
      if (nearest !== told) tell(nearest);
    });
  }
  frame.addEventListener("keydown", (event) => {
    /** @type {Record<string, number>} */
    const ways = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1};
    const to = told && points[points.indexOf(told) + ways[event.key]];
    if (to === undefined) return;
    event.preventDefault();
    tell(to);
  });
}
fill("scatter", element("div", {class: "choices"}, ...choices.map(({label}) => label)),
  element("div", {class: "plot-and-point"}, element("figure", {}, box, tally), details));

const list = listed({
  caption: "Images and their scores by both systems.",
  placeholder: "id, candidates or references",
  items: report.images,
  ordered: "Show",
  orders: () => {
    const [first, second] = named();
    const value = (/** @type {number} */ number) => {
      const gap = more(number);
      return gap === null ? null : Math.abs(gap);
    };
    return [
      {name: "largest differences first", value},
      {name: `where ${first} is better`, value, shows: (number) => (more(number) ?? 0) > 0},
      {name: `where ${second} is better`, value, shows: (number) => (more(number) ?? 0) < 0},
      {name: "where they are equal", value, shows: (number) => more(number) === 0},
    ];
  },
  shown: show,
  heads: () => [head(null, "Image"), head("caption", "Captions"),
    ...[...named(), "Difference"].map((name) => head("score", name))],
  cells: (number) =>
    pairCells(sides().map((system) => report.images[number].candidates[system]), scores(number), more(number)),
  details: (number, large) => besidePhoto(large, ...report.systems.map((_, system) =>
    systemCaption(number, system, SIDES[sides().indexOf(system)] ?? null)), referenceList(report.images[number].references)),
});
update();

/** Shows the systems and the metric chosen, in all sections. */
function update() {
  const ordered = String(sides().sort((a, b) => a - b));
  const pair = report.pairs.findIndex((pair) => String(pair) === ordered);
  cells.flat().forEach((cell) => cell.setAttribute("aria-pressed", String(cell === cells[pair]?.[by.number])));
  list.update();
}

/** @type {(number: number, system: number, side: string | null) => HTMLElement} A system's caption of an image, with its score. */
function systemCaption(number, system, side) {
  const image = report.images[number];
  return attributed(side, [element("span", {class: "name"}, report.systems[system]),
    element("span", {class: "value"}, imageScore(metric().scores[system][number]))],
  image.candidates[system], image.references);
}

/** @param {number[]} left the numbers of the images that the search left */
function show(left) {
  const [first, second] = named();
  svg.classList.remove("scatter");
  svg = frames[by.number];
  svg.classList.add("scatter");
  const [start, end, top, bottom] = (svg.dataset.box ?? "").split(" ").map(Number);
  points = left.flatMap((number) => {
    const [x, y] = scores(number).map((score) => (score ?? 0) / metric().most);
    const gap = more(number);
    return gap === null ? [] : [{number, gap, x: start + (end - start) * x, y: bottom + (top - bottom) * y}];
  }).sort((p, q) => q.gap - p.gap);
  const sides = BETTER.map((_, side) => points.filter(({gap}) => Math.sign(gap) === side - 1));
  const [worse, equal, better] = sides.map((side) => side.length);
  tally.textContent = `${first} better on ${images(better)}, ${second} on ${whole(worse)}, equal on ${whole(equal)}`;
  svg.setAttribute("aria-label", `${metric().label} of ${first} (across) and ${second} (up): ${tally.textContent}. `
    + "Arrow keys go from image to image.");
  const labels = svg.querySelectorAll(".axis-label");
  [second, first].forEach((name, at) => { labels[at].textContent = name.length > 40 ? `${name.slice(0, 39)}…` : name; });
  box.replaceChildren(svg);
  svg.append(layers);
  layers.replaceChildren(...sides.flatMap((side, kind) => Array.from({length: Math.min(LAYERS, side.length)}, (_, layer) =>
    shape("path", {class: `points ${BETTER[kind]}`, "stroke-opacity": points.length > 1000 ? 0.45 : 0.75,
      d: side.filter((_, at) => at % LAYERS === layer).map(({x, y}) => `M${x.toFixed(1)} ${y.toFixed(1)}h0`).join("")}))),
  ring);
  tell(points.find(({number}) => number === told?.number) ?? points[0]);
}

/** @param {Point | undefined} point around which the ring is put, and whose image is shown */
function tell(point) {
  told = point;
  ring.toggleAttribute("hidden", point === undefined);
  if (point === undefined) {
    details.replaceChildren(element("p", {class: "nothing"}, "No image matches."));
    return;
  }
  ring.setAttribute("cx", String(point.x));
  ring.setAttribute("cy", String(point.y));
  const image = report.images[point.number];
  details.replaceChildren(element("h3", {}, image.id), ...besidePhoto(photo(image),
    ...sides().map((system, at) => systemCaption(point.number, system, SIDES[at])), referenceList(image.references)));
}
