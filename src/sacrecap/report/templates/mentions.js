// CHAIR: the objects that a candidate names, sentence by sentence; hallucinated ones are marked.

import {element} from "./dom.js";

/** @param {MentionPiece} piece */
function drawn({text, object, there}) {
  if (object === null) return text;
  return there ? element("span", {class: "there", title: object}, text)
    : element("mark", {title: `${object}: not there`}, text);
}

/**
 * The figure, in a list of one; an empty list where CHAIR's mentions are not on the page, or the caption is empty.
 * @param {ScoredImage} image
 */
export function mentionsFigure({mentions}) {
  if (!mentions || !mentions.sentences.length) return [];
  const sentences = mentions.sentences.map((pieces) => element("li", {}, ...pieces.map(drawn)));
  const missed = mentions.missed.length ? ` There and not named: ${mentions.missed.join(", ")}.` : "";
  return [element("figure", {class: "mentions"},
    element("ol", {class: sentences.length > 1 ? "numbered" : null}, ...sentences),
    element("figcaption", {}, "CHAIR: ", element("span", {class: "there"}, "named and there"), ", ",
      element("mark", {}, "named and not there"),
      `, ${mentions.hallucinated} of ${mentions.mentions}.${missed}`))];
}
