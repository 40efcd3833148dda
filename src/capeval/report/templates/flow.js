// VIFIDEL's transport plan: objects above, words below, a line as thick as what an object pays a word.

const THICKEST = 26; // of a line that carries everything, in the figure's own units
const SLOPE = 90; // height of the lines

/** A row of names, each over or under the middle of its cell; hovering tells its share and its ρ. */
function nameRow(names, weights, importance, cells, y) {
  return names.map((name, number) => shape("text", {
    x: cells[number].left + cells[number].width / 2, y, "text-anchor": "middle"},
  shape("title", {}, `${name}: share ${weights[number].toFixed(3)}, ρ ${importance[number].toFixed(3)}`), name));
}

/** Moves the shorter row to the middle of the longer one. */
function centred(cells, width) {
  const own = Math.max(...cells.map((cell) => cell.left + cell.width));
  return cells.map((cell) => ({...cell, left: cell.left + (width - own) / 2}));
}

/** The figure, in a list of one; an empty list where VIFIDEL was not scored or knows no object or no word. */
function flowFigure(image) {
  const plan = image.plan;
  if (!plan || !plan.flows.length) return [];
  let [above, below] = [places(plan.objects), places(plan.words)];
  const width = [...above, ...below].reduce((most, cell) => Math.max(most, cell.left + cell.width), CELL);
  [above, below] = [centred(above, width), centred(below, width)];
  const dearest = Math.max(...plan.flows.map(([, , , cost]) => cost), 1e-12);
  const lines = plan.flows.map(([object, word, share, cost]) => shape("line", {
    class: "flow", "stroke-width": Math.max(1, THICKEST * share).toFixed(1),
    "stroke-opacity": (0.85 - 0.55 * cost / dearest).toFixed(2),
    x1: above[object].left + above[object].width / 2, y1: LINE + 6,
    x2: below[word].left + below[word].width / 2, y2: LINE + SLOPE - 14},
  shape("title", {}, `${plan.objects[object]} → ${plan.words[word]}: share ${share.toFixed(3)} × cost ` +
    `${cost.toFixed(3)} = ${(share * cost).toFixed(3)}`)));
  const height = 2 * LINE + SLOPE;
  return [element("figure", {class: "alignment"},
    element("div", {class: "scroll"}, shape("svg", {
      role: "img", "aria-label": "VIFIDEL: objects above, words below", preserveAspectRatio: "xMinYMid",
      viewBox: `-20 0 ${width + 40} ${height}`, width: width + 40, height},
    ...lines,
    ...nameRow(plan.objects, plan.weights[0], plan.importance[0], above, LINE),
    ...nameRow(plan.words, plan.weights[1], plan.importance[1], below, LINE + SLOPE))),
    element("figcaption", {}, "VIFIDEL: objects above, words below; a line is as thick as what the object pays the " +
      `word, and the paler the dearer. Distance ${plan.distance.toFixed(3)}.`))];
}
