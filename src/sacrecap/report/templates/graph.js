// SPICE's scene graphs: the candidate's above, that of all references below. Python computed the layout.

import {element, imageScore, shape} from "./dom.js";

/** @type {Record<string, string>} */
const RULES = {lemma: "same word", synset: "synonym", none: "no match"};

/** @param {GraphPart} part */
const drawn = (part) => shape("g", {class: `${part.kind} ${part.rule}`},
  ...(part.title === null ? [] : [shape("title", {}, part.title)]),
  shape("path", {d: part.path}),
  shape("text", {x: part.x, y: part.y, textLength: part.width, lengthAdjust: "spacingAndGlyphs"}, part.text));

/**
 * @param {string} name
 * @param {GraphPicture} picture
 */
function side(name, picture) {
  const {width, height} = picture;
  return [element("h5", {}, name), element("div", {class: "scroll"}, shape("svg", {
    role: "img", "aria-label": `Scene graph of the ${name.toLowerCase()}: ${picture.parts.map(({text}) => text).join(", ")}`,
    preserveAspectRatio: "xMinYMid", viewBox: `-2 0 ${width + 4} ${height}`, width: width + 4, height},
  ...picture.parts.map(drawn)))];
}

/**
 * The figure, in a list of one; an empty list where SPICE's graphs are not on the page.
 * @param {ScoredImage} image
 */
export function graphFigure({graph}) {
  if (!graph) return [];
  const parts = [...graph.candidate.parts, ...graph.references.parts];
  const rules = Object.keys(RULES).filter((rule) => parts.some((part) => part.rule === rule && part.kind !== "nothing"));
  return [element("figure", {class: "graph"},
    ...side("Candidate", graph.candidate), ...side("References together", graph.references),
    element("figcaption", {}, `SPICE ${imageScore(graph.score)}: precision ${imageScore(graph.precision)}, recall ${
      imageScore(graph.recall)} of all that the graphs say. `,
    ...rules.map((rule) => element("span", {class: `key ${rule}`}, RULES[rule]))))];
}
