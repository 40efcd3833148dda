// Tokens in a row, as figures of alignments and plans lay them out: monospaced, in the figure's own units.

export const CELL = 8; // width of a character
export const LINE = 18;

/** @typedef {{left: number, width: number}} Cell */

/**
 * Left edge and width of each token, with two blanks between.
 * @param {string[]} tokens
 * @returns {Cell[]}
 */
export function places(tokens) {
  let left = 0;
  return tokens.map((token) => {
    const width = [...token].length * CELL;
    const place = {left, width};
    left += width + 2 * CELL;
    return place;
  });
}

/**
 * Where the last of them ends.
 * @param {Cell[]} cells
 */
export const endOf = (cells) => cells.reduce((most, cell) => Math.max(most, cell.left + cell.width), CELL);
