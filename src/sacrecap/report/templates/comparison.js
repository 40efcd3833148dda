// The page of a comparison: the systems and the metric that the reader chose, a point per image that shows its captions when
// it is the nearest, and the images in a list, first those in which the two systems differ most.

import {attributed, besidePhoto, byId, carried, cell, choice, element, fill, head, imageScore, images, listed, options, photo,
  referenceList, shape, signed, whole} from "./common.js";

const REACH = 24; // pixels within which a point is the nearest
const LAYERS = 40; // points in one layer do not add up where they overlap, but points of several do
const PAIR = ["first", "second"];
const SIDES = ["second", "equal", "first"]; // which system is better, by the sign of the difference, from −1

/** @type {ComparisonPage} */
const report = await carried();
const across = choice("across", report.systems, () => update());
const up = choice("up", report.systems, () => update());
const by = choice("by", report.metrics.map(({label}) => label), () => update());
up.pick(1);
by.pick(report.lead);
const cells = [...document.querySelectorAll("table.pairs tbody tr")].map((row, pair) =>
  [...row.querySelectorAll("td")].map((cell, metric) => {
    const button = element("button", {type: "button", "aria-pressed": "false", click: () => {
      [across, up].forEach((control, side) => control.pick(report.pairs[pair][side]));
      by.pick(metric);
      update();
    }}, ...cell.childNodes);
    cell.append(button);
    return button;
  }));

const metric = () => report.metrics[by.number];
const sides = () => [across.number, up.number];
const named = () => sides().map((system) => report.systems[system]);
/** The first system's score of an image less the second's; null where it has none of one of them. */
const more = (/** @type {number} */ number) => {
  const [first, second] = sides().map((system) => metric().scores[system][number]);
  return first === null || second === null ? null : first - second;
};
across.label.classList.add("a");
up.label.classList.add("b");
by.label.classList.add("metric");
const {node, show} = scatter();
fill("scatter", [element("div", {class: "choices"}, across.label, up.label, by.label)], node);

/** Which images are shown, by the difference of their scores: all, one system's, the other's, equal ones. */
const VIEWS = [
  () => true,
  (/** @type {number | null} */ gap) => gap !== null && gap > 0,
  (/** @type {number | null} */ gap) => gap !== null && gap < 0,
  (/** @type {number | null} */ gap) => gap === 0,
];
const order = choice("Show", [], () => list.update());
// Images without a score come last.
const size = (/** @type {number} */ number) => Math.abs(more(number) ?? -0) - Number(more(number) === null);
const list = listed({
  caption: "Images and their scores by both systems.",
  placeholder: "id, candidates or references",
  texts: report.images.map((image) =>
    [image.id, ...image.candidates.map((caption) => caption ?? ""), ...image.references].join("\n")),
  controls: [order.label],
  passes: (number) => VIEWS[order.number](more(number)),
  compare: (a, b) => size(b) - size(a),
  shown: (found) => show(found.filter((number) => more(number) !== null)),
  heads: () => [head(null, "Image"), head("caption", "Captions"),
    ...[...named(), "Difference"].map((name) => head("score", name))],
  row: (number) => {
    const image = report.images[number];
    const difference = more(number);
    return {id: image.id, photo: photo(image, "row"), cells: [
      cell("caption", ...sides().map((system, at) => element("p", {class: PAIR[at]}, image.candidates[system] ?? ""))),
      ...sides().map((system, at) => cell(`score ${PAIR[at]}`, imageScore(metric().scores[system][number]))),
      cell("score gap", difference === null ? "" : signed(difference))]};
  },
  details: (number) => {
    const image = report.images[number];
    return besidePhoto(photo(image, "large"), ...report.systems.map((_, system) =>
      systemCaption(number, system, PAIR[sides().indexOf(system)] ?? null)), referenceList(image.references));
  },
});
fill("images", [], ...list.blocks);
update();

/** Shows the systems and the metric chosen, in all sections. */
function update() {
  const ordered = String(sides().sort((a, b) => a - b));
  const pair = report.pairs.findIndex((pair) => String(pair) === ordered);
  cells.flat().forEach((cell) => cell.setAttribute("aria-pressed", String(cell === cells[pair]?.[by.number])));
  const view = order.select.value;
  const [one, other] = named();
  order.select.replaceChildren(...options(["largest differences first", `where ${one} is better`,
    `where ${other} is better`, "where they are equal"]));
  order.select.value = view || "0";
  list.update();
}

/** @type {(number: number, system: number, side: string | null) => HTMLElement} A system's caption of an image, with its score. */
function systemCaption(number, system, side) {
  const image = report.images[number];
  return attributed(side, [element("span", {class: "name"}, report.systems[system]),
    element("span", {class: "value"}, imageScore(metric().scores[system][number]))],
  image.candidates[system], image.references);
}

/** Scores of the images by two systems, one point per image, and what shows the images that the search left. */
function scatter() {
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

  /** @param {number[]} found the numbers of the images that the search left and that have a score */
  function show(found) {
    const [first, second] = named();
    svg.classList.remove("scatter");
    svg = frames[by.number];
    svg.classList.add("scatter");
    const [left, right, top, bottom] = (svg.dataset.box ?? "").split(" ").map(Number);
    const place = (/** @type {number} */ system, /** @type {number} */ number) =>
      (metric().scores[system][number] ?? 0) / metric().most;
    points = found.map((number) => ({number, gap: more(number) ?? 0, x: left + (right - left) * place(across.number, number),
      y: bottom + (top - bottom) * place(up.number, number)})).sort((p, q) => q.gap - p.gap);
    const sides = SIDES.map((_, side) => points.filter(({gap}) => Math.sign(gap) === side - 1));
    const [worse, equal, better] = sides.map((side) => side.length);
    tally.textContent = `${first} better on ${images(better)}, ${second} on ${whole(worse)}, equal on ${whole(equal)}`;
    svg.setAttribute("aria-label", `${metric().label} of ${first} (across) and ${second} (up): ${tally.textContent}. `
      + "Arrow keys go from image to image.");
    const labels = svg.querySelectorAll(".axis-label");
    [second, first].forEach((name, at) => { labels[at].textContent = name.length > 40 ? `${name.slice(0, 39)}…` : name; });
    box.replaceChildren(svg);
    svg.append(layers);
    layers.replaceChildren(...sides.flatMap((side, kind) => Array.from({length: Math.min(LAYERS, side.length)}, (_, layer) =>
      shape("path", {class: `points ${SIDES[kind]}`, "stroke-opacity": found.length > 1000 ? 0.45 : 0.75,
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
      ...sides().map((system, at) => systemCaption(point.number, system, PAIR[at])), referenceList(image.references)));
  }

  return {node: element("div", {class: "plot-and-point"}, element("figure", {}, box, tally), details), show};
}
