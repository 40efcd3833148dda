// How METEOR aligned a candidate with its best reference: tokens above and below, a line a match.

const CELL = 8; // width of a monospaced character, in the figure's own units
const LINE = 18;
const GAP = 46;

/** Left edge and width of each token, laid out as monospaced text with two blanks between. */
function places(tokens) {
  let left = 0;
  return tokens.map((token) => {
    const width = [...token].length * CELL;
    const place = {left, width};
    left += width + 2 * CELL;
    return place;
  });
}

const middle = (cells, [start, end]) => (cells[start].left + cells[end - 1].left + cells[end - 1].width) / 2;

function tokenRow(tokens, cells, spans, y) {
  const matched = new Set(spans.flatMap(([start, end]) => [...Array(end - start).keys()].map((k) => start + k)));
  return tokens.map((token, number) => shape("text", {
    x: cells[number].left, y, textLength: cells[number].width, lengthAdjust: "spacingAndGlyphs",
    class: matched.has(number) ? "matched" : "unmatched"}, token));
}

/** The figure, in a list of one; an empty list where METEOR was not scored. */
function alignmentFigure(image) {
  if (!image.alignment) return [];
  const found = {...image.alignment, candidate: image.alignment.candidate.split(" "),
    reference: image.alignment.reference.split(" ")};
  const [above, below] = [places(found.candidate), places(found.reference)];
  const last = [...above, ...below].reduce((most, cell) => Math.max(most, cell.left + cell.width), CELL);
  const height = 2 * LINE + GAP;
  const lines = found.links.map(([module, candidate, reference]) => shape("line", {
    class: module, x1: middle(above, candidate), y1: LINE + 4, x2: middle(below, reference), y2: LINE + GAP - 12},
  shape("title", {}, `${module}: ${found.candidate.slice(...candidate).join(" ")} – ` +
    found.reference.slice(...reference).join(" "))));
  const modules = [...new Set(found.links.map(([module]) => module))];
  return [element("figure", {class: "alignment"},
    element("div", {class: "scroll"}, shape("svg", {
      role: "img", "aria-label": `METEOR alignment with reference ${found.number + 1}`,
      preserveAspectRatio: "xMinYMid", viewBox: `-2 0 ${last + 4} ${height}`, width: last + 4, height},
    ...tokenRow(found.candidate, above, found.links.map((link) => link[1]), LINE),
    ...lines,
    ...tokenRow(found.reference, below, found.links.map((link) => link[2]), LINE + GAP))),
    element("figcaption", {}, `METEOR: candidate above, reference ${found.number + 1} below. `,
      ...modules.map((module) => element("span", {class: `key ${module}`}, module))))];
}
