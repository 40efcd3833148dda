// What the pages of reports have in common: elements, numbers, one image with its captions, lists of images, pictures that
// Python drew. Text reaches the page through text nodes only, never as markup.

const SVG = "http://www.w3.org/2000/svg";
const WORD = /[\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*/gu;

/** @typedef {string | Node} Child */
/** @typedef {Record<string, string | number | boolean | null | ((event: any) => void)>} Attributes */
/** @typedef {{id: string, photo: HTMLElement[], cells: HTMLTableCellElement[]}} Row of an image: its photo, if any */
/** @typedef {{name: string, people: boolean}} System */

/**
 * An HTML element; attributes that are functions are listeners, strings among the children become text.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function element(name, attributes = {}, ...children) {
  return assembled(document.createElement(name), attributes, children);
}

/**
 * An SVG element, in the same way.
 * @template {keyof SVGElementTagNameMap} Name
 * @param {Name} name
 * @param {Attributes} [attributes]
 * @param {...Child} children
 */
export function shape(name, attributes = {}, ...children) {
  return assembled(document.createElementNS(SVG, name), attributes, children);
}

/**
 * @template {Element} Made
 * @param {Made} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function assembled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

/**
 * The element of the page's own markup that has this id.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
}

/**
 * Adds to the section of this id: beside its heading, and below it.
 * @param {string} id
 * @param {Child[]} beside
 * @param {...Child} blocks
 */
export function fill(id, beside, ...blocks) {
  const place = byId(id);
  place.querySelector("h2")?.after(...beside);
  place.append(...blocks);
}

/** @param {...Child} text */
export const legend = (...text) => element("p", {class: "legend"}, ...text);

/**
 * A list to choose from, in its label.
 * @param {string} label
 * @param {string[]} names
 * @param {(chosen: number) => void} choose
 * @param {Attributes} [attributes]
 */
export function choice(label, names, choose, attributes = {}) {
  const select = element("select", {change: () => choose(Number(select.value)), ...attributes}, ...options(names));
  return {select, label: element("label", {class: "control"}, `${label} `, select)};
}

/** @param {string[]} names */
export const options = (names) => names.map((name, number) => element("option", {value: number}, name));

/**
 * A cell of a row: what stands in it, and its class. The roles keep the table one for assistive software when narrow
 * screens show its rows as blocks.
 * @param {string | null} kind
 * @param {...Child} content
 */
export const cell = (kind, ...content) => element("td", {class: kind, role: "cell"}, ...content);

/**
 * @param {string | null} kind
 * @param {Child} content
 */
export const head = (kind, content) => element("th", {class: kind, role: "columnheader", scope: "col"}, content);

/**
 * The data that the page carries: JSON, compressed, in base64.
 * @returns {Promise<any>}
 */
export async function carried() {
  const text = atob(byId("data").textContent ?? "");
  const bytes = new Uint8Array(text.length);
  // In a loop: Uint8Array.from with a function takes a second for 50,000 images.
  for (let place = 0; place < text.length; place += 1) bytes[place] = text.charCodeAt(place);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const markup = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("drawings", {createHTML: (/** @type {string} */ text) => text});

/**
 * What Python drew of the image of this number, if anything.
 * @param {any} report
 * @param {number} number
 * @param {string} [kind] `drawings` or, to lie on its photo, `boxes`
 */
export function drawing(report, number, kind = "drawings") {
  const text = report[kind][number] ?? "";
  const parsed = new DOMParser().parseFromString(/** @type {any} */ (markup?.createHTML(text) ?? text), "text/html");
  return [...document.importNode(parsed.body, true).children];
}

/** @param {number | null} value */
export const imageScore = (value) => (value === null ? "no score" : value.toFixed(3));

/**
 * A difference, with its sign.
 * @param {number} value
 */
export const signed = (value) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${Math.abs(value).toFixed(3)}`;

/** @param {number} count */
export const whole = (count) => count.toLocaleString("en");

/** @param {number} count */
export const images = (count) => (count === 1 ? "1 image" : `${whole(count)} images`);

// A button that copies all signatures, a line each; where the browser forbids copying, it selects them.
for (const lines of document.querySelectorAll(".signatures pre")) {
  const button = element("button", {type: "button", "aria-label": "Copy all signatures", click: async () => {
    try {
      await navigator.clipboard.writeText(lines.textContent ?? "");
      button.textContent = "Copied";
    } catch {
      getSelection()?.selectAllChildren(lines);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }}, "Copy");
  lines.before(button);
}

// One image

/** @param {string} text */
const wordsOf = (text) => new Set(text.toLowerCase().match(WORD) ?? []);

/**
 * The candidate with the words that no reference has in `<mark>`, none where there is no reference, or with every other
 * of its `pieces`; everything else stays as it was written.
 * @param {string | null} candidate
 * @param {string[]} references
 * @param {string[]} [pieces]
 */
export function markedCandidate(candidate, references, pieces) {
  const paragraph = element("p", {class: "candidate"});
  if (candidate && pieces) {
    paragraph.append(...pieces.map((text, at) => (at % 2 ? element("mark", {}, text) : text)));
    return paragraph;
  }
  if (!candidate) {
    const nothing = candidate === null ? "no candidate: scored as an empty caption" : "empty caption";
    paragraph.append(element("span", {class: "nothing"}, nothing));
    return paragraph;
  }
  const known = wordsOf(references.join("\n"));
  let end = 0;
  for (const match of references.length ? candidate.matchAll(WORD) : []) {
    if (known.has(match[0].toLowerCase())) continue;
    paragraph.append(candidate.slice(end, match.index), element("mark", {}, match[0]));
    end = match.index + match[0].length;
  }
  paragraph.append(candidate.slice(end));
  return paragraph;
}

/** @param {string[]} references */
export const referenceList = (references) => element("ul", {class: "references", "aria-label": "References"},
  ...references.map((reference) => element("li", {}, reference)));

/**
 * Scores by name; the one looked at, if any, stands out.
 * @param {{label: string, score: number | null, looked?: boolean}[]} scores
 */
export const scoreList = (scores) => element("dl", {class: "image-scores", "aria-label": "Scores"},
  ...scores.map(({label, score, looked = false}) => element("div", {class: looked ? "looked" : null},
    element("dt", {}, label), element("dd", {}, imageScore(score)))));

/**
 * A caption below who wrote it; `side` is its colour.
 * @param {string | null} side
 * @param {Node[]} who
 * @param {string | null} candidate
 * @param {string[]} references
 * @param {...Node} more
 */
export const attributed = (side, who, candidate, references, ...more) => element("div", {class: `system-caption ${side ?? ""}`},
  element("p", {class: "who"}, ...who), markedCandidate(candidate, references), ...more);

/**
 * Photo and text side by side; the text alone without a photo.
 * @param {HTMLElement[]} photos
 * @param {...HTMLElement} text
 */
export const besidePhoto = (photos, ...text) =>
  (photos.length ? [element("div", {class: "beside"}, ...photos, element("div", {}, ...text))] : text);

/**
 * The photo of an image as a button that enlarges it, in a list of one; an empty list without a photo. It is called by
 * its id where nobody describes it.
 * @param {{id: string, references: string[], photo: string | null}} image
 * @param {string} [kind] how large: `row`, `card` or `large`
 * @param {Element[]} [boxes] of the objects in it, which its text names
 */
export function photo({id, references, photo: address}, kind = "card", boxes = []) {
  if (!address) return [];
  const shown = boxes.map((svg) => /** @type {Element} */ (svg.cloneNode(true)));
  const text = [nearest(references) || id, ...shown.map((svg) => svg.getAttribute("aria-label"))].join(" · ");
  // Nothing in a button takes the focus: the boxes of the enlarged photo do.
  for (const node of shown.flatMap((svg) => [...svg.children])) node.removeAttribute("tabindex");
  const image = element("img", {src: address, alt: text, loading: "lazy", decoding: "async",
    error: () => button.remove()});
  const button = element("button", {type: "button", class: `photo ${kind}`, title: "Enlarge", click: (event) => {
    event.stopPropagation();
    enlarge(address, text, id, boxes);
  }}, image, ...shown);
  return [button];
}

/**
 * The photo as large as the screen allows; a click anywhere, Escape or the button closes it.
 * @param {string} address
 * @param {string} text
 * @param {string} id
 * @param {Element[]} boxes
 */
function enlarge(address, text, id, boxes) {
  // A small image is not enlarged to the whole screen: it would only be blurred.
  const image = element("img", {src: address, alt: text, load: () => {
    image.style.maxWidth = `${3 * image.naturalWidth}px`;
  }});
  const dialog = element("dialog", {class: "enlarged", "aria-label": id, click: () => dialog.close(),
    close: () => dialog.remove()},
  element("div", {class: "boxed"}, image, ...boxes),
  element("p", {}, element("bdi", {}, text), element("button", {type: "button", autofocus: true}, "Close")));
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * The reference that has most words in common with the others: the best of them as a description of the image.
 * @param {string[]} references
 */
function nearest(references) {
  const sets = references.map(wordsOf);
  const common = (/** @type {Set<string>} */ one, /** @type {Set<string>} */ other) =>
    (2 * [...one].filter((word) => other.has(word)).length) / (one.size + other.size || 1);
  let [best, most] = ["", -1];
  references.forEach((reference, number) => {
    const sum = sets.reduce((total, other, place) => (place === number ? total : total + common(sets[number], other)), 0);
    if (sum > most) [best, most] = [reference, sum];
  });
  return best;
}

// Lists of images, captions or pairs: search, controls, pages, and rows that open

/**
 * What is listed, by number. `texts` is what the search reads; `passes` what the controls let through; `compare` sorts;
 * `shown` hears which are left, in their order.
 * @typedef {object} Listing
 * @property {string} [kind]
 * @property {string} caption
 * @property {string} placeholder
 * @property {string[]} texts
 * @property {number} [most] rows on a page
 * @property {(count: number) => string} [named]
 * @property {HTMLElement[]} controls
 * @property {() => HTMLTableCellElement[]} heads
 * @property {(number: number) => Row} row
 * @property {(number: number) => (Node | string)[]} details
 * @property {(number: number) => boolean} [passes]
 * @property {(a: number, b: number) => number} [compare]
 * @property {(found: number[]) => void} [shown]
 */

export class List {
  /** @param {Listing} listing */
  constructor(listing) {
    this.listing = listing;
    this.texts = listing.texts.map((text) => text.toLowerCase());
    this.most = listing.most ?? 25;
    /** @type {Set<number>} */
    this.open = new Set();
    this.page = 0;
    /** @type {number[]} */
    this.found = [];
    this.search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false",
      placeholder: listing.placeholder, input: () => this.update()});
    this.status = element("p", {class: "status", role: "status"});
    this.heads = element("tr", {role: "row"});
    this.body = element("tbody", {role: "rowgroup"});
    const turn = (/** @type {string} */ name, /** @type {() => number} */ to) =>
      element("button", {type: "button", click: () => this.turn(to())}, name);
    this.back = [turn("First", () => 0), turn("Previous", () => this.page - 1)];
    this.forth = [turn("Next", () => this.page + 1), turn("Last", () => this.last)];
    this.place = element("span", {class: "place"});
    /** What the page shows of it. */
    this.blocks = [
      element("div", {class: "controls"}, element("label", {class: "control", for: "search"}, "Search"), this.search,
        ...listing.controls, this.status),
      element("div", {class: "grid"}, element("table", {class: `images ${listing.kind ?? ""}`, role: "table"},
        element("caption", {}, listing.caption), element("thead", {role: "rowgroup"}, this.heads), this.body)),
      element("nav", {class: "pager", "aria-label": "Pages of the table"}, ...this.back, this.place, ...this.forth),
    ];
  }

  get last() { return Math.max(Math.ceil(this.found.length / this.most), 1) - 1; }

  /** Shows those that have every word searched for and pass, from the first page on. */
  update() {
    const {passes = () => true, compare = () => 0, named = images, shown} = this.listing;
    const words = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.found = this.texts.flatMap((text, number) =>
      (passes(number) && words.every((word) => text.includes(word)) ? [number] : [])).sort(compare);
    const all = this.texts.length;
    this.status.textContent = this.found.length === all ? named(all) : `${whole(this.found.length)} of ${named(all)}`;
    shown?.(this.found);
    this.turn(0);
  }

  /** @param {number} page */
  turn(page) {
    this.page = page;
    const start = page * this.most;
    const shown = this.found.slice(start, start + this.most);
    this.place.textContent = shown.length
      ? `${whole(start + 1)}–${whole(start + shown.length)} of ${whole(this.found.length)}` : "";
    this.back.forEach((button) => { button.disabled = page === 0; });
    this.forth.forEach((button) => { button.disabled = page >= this.last; });
    this.heads.replaceChildren(...this.listing.heads());
    this.body.replaceChildren(...(shown.length ? shown.flatMap((number) => this.rows(number))
      : [this.across("", [element("p", {class: "nothing"},
        `Nothing matches. Search looks for every word in ${this.listing.placeholder}.`)])]));
  }

  /**
   * An image's row, and below it, where open, its details.
   * @param {number} number
   */
  rows(number) {
    const {id, photo, cells} = this.listing.row(number);
    const opened = this.open.has(number);
    const button = element("button", {type: "button", "aria-expanded": String(opened)}, element("bdi", {}, id));
    const name = photo.length ? element("div", {class: "named"}, ...photo, button) : button;
    const row = element("tr", {class: "image", role: "row", click: () => this.clicked(number, row, button)},
      element("th", {scope: "row", role: "rowheader", class: "id"}, name), ...cells);
    return opened ? [row, this.details(number)] : [row];
  }

  /** @param {number} number */
  details(number) { return this.across("details", this.listing.details(number)); }

  /**
   * A row of one cell.
   * @param {string} kind
   * @param {(Node | string)[]} content
   */
  across(kind, content) {
    const whole = cell(null, ...content);
    whole.colSpan = this.heads.cells.length;
    return element("tr", {class: kind, role: "row"}, whole);
  }

  /**
   * A click anywhere on a row, unless it ended a selection of text.
   * @param {number} number
   * @param {HTMLTableRowElement} row
   * @param {HTMLButtonElement} button
   */
  clicked(number, row, button) {
    if (String(getSelection())) return;
    const opens = !this.open.delete(number);
    if (opens) {
      this.open.add(number);
      row.after(this.details(number));
    } else {
      row.nextElementSibling?.remove();
    }
    button.setAttribute("aria-expanded", String(opens));
  }
}

// Pictures that Python drew: their marks tell what they are, and the reader hides systems

/**
 * Below each picture, what is under the pointer or the focus.
 * @param {ParentNode} root
 */
export function telling(root) {
  for (const figure of root.querySelectorAll(".plots > .picture")) {
    const readout = element("p", {class: "readout", "aria-live": "polite"});
    figure.append(readout);
    for (const event of ["pointerover", "focusin"]) {
      figure.addEventListener(event, ({target}) => {
        const title = target instanceof Element && target.closest("[tabindex]")?.querySelector("title");
        if (title) readout.textContent = title.textContent;
      });
    }
  }
}

/**
 * The numbers of the systems that are not shown; the boxes of the page change them, and the pictures follow.
 * @param {() => void} changed
 */
export function hiddenSystems(changed = () => {}) {
  /** @type {Set<number>} */
  const hidden = new Set();
  for (const box of document.querySelectorAll("#chooser input")) {
    box.addEventListener("change", () => {
      if (!(box instanceof HTMLInputElement)) return;
      if (box.checked) hidden.delete(Number(box.dataset.system));
      else hidden.add(Number(box.dataset.system));
      hide(document, hidden);
      changed();
    });
  }
  return hidden;
}

/**
 * Hides systems in pictures, and pictures of one system alone.
 * @param {ParentNode} root
 * @param {Set<number>} hidden
 */
export function hide(root, hidden) {
  for (const figure of root.querySelectorAll(".picture")) {
    if (!(figure instanceof HTMLElement)) continue;
    const systems = (figure.dataset.systems ?? "").split(" ").map(Number);
    if (figure.closest(".planes")) figure.hidden = hidden.has(systems[0]);
    else systems.forEach((system, look) => figure.querySelectorAll(`.look-${look}`).forEach((node) =>
      node.toggleAttribute("hidden", hidden.has(system))));
  }
}

/**
 * A system's mark and name, in one line.
 * @param {{systems: System[]}} report
 * @param {number} number
 */
export const systemName = ({systems}, number) =>
  element("span", {class: "system", title: systems[number].name},
    shape("svg", {class: "key", viewBox: "-9 -9 18 18", "aria-hidden": "true"}, shape("use", {href: `#mark-${number}`})),
    element("bdi", {}, systems[number].name));
