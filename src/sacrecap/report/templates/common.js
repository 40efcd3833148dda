// What the pages of reports have in common: elements, numbers, one image with its captions, lists of images, pictures that
// Python drew. Text reaches the page through text nodes only, never as markup.

const WORD = /([\p{L}\p{N}]+(?:['’-][\p{L}\p{N}]+)*)/gu;

/** @typedef {string | Node} Child */
/** @typedef {Record<string, string | number | boolean | null | ((event: any) => void)>} Attributes */

/**
 * An HTML element; attributes that are functions are listeners, strings among the children become text.
 * @type {<Name extends keyof HTMLElementTagNameMap>(name: Name, attributes?: Attributes, ...children: Child[]) =>
 *   HTMLElementTagNameMap[Name]}
 */
export const element = (name, attributes = {}, ...children) => assembled(document.createElement(name), attributes, children);

/**
 * An SVG element, in the same way.
 * @type {<Name extends keyof SVGElementTagNameMap>(name: Name, attributes?: Attributes, ...children: Child[]) =>
 *   SVGElementTagNameMap[Name]}
 */
export const shape = (name, attributes = {}, ...children) =>
  assembled(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);

/** @type {<Made extends Element>(node: Made, attributes: Attributes, children: Child[]) => Made} */
function assembled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== null && value !== false) node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}

/** @type {(id: string) => HTMLElement} The element of the page's own markup that has this id. */
export const byId = (id) => {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no element ${id}`);
  return found;
};

/** @type {(id: string, beside: Child, block: Child) => void} Adds to a section: beside its heading, and below it. */
export const fill = (id, beside, block) => {
  byId(`${id}-heading`).after(beside);
  byId(id).append(block);
};

/**
 * A list to choose from, in its label; `number` is that of what is chosen.
 * @type {(label: string, names: string[], changed: () => void) => {number: number, select: HTMLSelectElement, label: HTMLElement}}
 */
export const choice = (label, names, changed) => {
  const select = element("select", {change: changed}, ...names.map((name, value) => element("option", {value}, name)));
  return {select, label: element("label", {class: "control"}, `${label} `, select),
    get number() { return select.selectedIndex; }, set number(number) { select.selectedIndex = number; }};
};

/**
 * A cell of a row: its class, and what stands in it. The roles keep the table one for assistive software when narrow
 * screens show its rows as blocks.
 * @type {(kind: string | null, ...content: Child[]) => HTMLTableCellElement}
 */
export const cell = (kind, ...content) => element("td", {class: kind, role: "cell"}, ...content);

/** @type {(kind: string | null, content: Child) => HTMLTableCellElement} */
export const head = (kind, content) => element("th", {class: kind, role: "columnheader", scope: "col"}, content);

// The data that the page carries: JSON, compressed, in base64. In a loop: Uint8Array.from with a function takes a second for
// 50,000 images.
const packed = atob(byId("data").textContent ?? "");
const bytes = new Uint8Array(packed.length);
for (let place = 0; place < packed.length; place += 1) bytes[place] = packed.charCodeAt(place);
/** @type {any} */
export const carried = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();

const markup = /** @type {any} */ (globalThis).trustedTypes?.createPolicy("drawings", {createHTML: (/** @type {string} */ text) => text});

/**
 * What Python drew of the image of this number, if anything; `boxes` are to lie on its photo.
 * @type {(number: number, kind?: "drawings" | "boxes") => HTMLElement[]}
 */
export const drawing = (number, kind = "drawings") => {
  const text = carried[kind][number] ?? "";
  const parsed = new DOMParser().parseFromString(/** @type {any} */ (markup?.createHTML(text) ?? text), "text/html");
  return /** @type {any} */ ([...document.importNode(parsed.body, true).children]);
};

/** @param {number | null} value */
export const imageScore = (value) => (value === null ? "no score" : value.toFixed(3));

/** @param {number} value a difference */
const signed = (value) => `${value < 0 ? "−" : value > 0 ? "+" : ""}${Math.abs(value).toFixed(3)}`;

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
 * @type {(candidate: string | null, references: string[], pieces?: string[]) => HTMLElement}
 */
export const markedCandidate = (candidate, references, pieces) => {
  if (!candidate) {
    const nothing = candidate === null ? "no candidate: scored as an empty caption" : "empty caption";
    return element("p", {class: "candidate"}, element("span", {class: "nothing"}, nothing));
  }
  const known = wordsOf(references.join("\n"));
  const marks = (/** @type {string} */ text) => pieces || (references.length && !known.has(text.toLowerCase()));
  const paragraph = element("p", {class: "candidate"}, ...(pieces ?? candidate.split(WORD)).map((text, at) =>
    (at % 2 && marks(text) ? element("mark", {}, text) : text)));
  paragraph.normalize(); // a font joins letters within a text only
  return paragraph;
};

/** @param {string[]} references */
export const referenceList = (references) => element("ul", {class: "references", "aria-label": "References"},
  ...references.map((reference) => element("li", {}, reference)));

/** @param {{label: string, score: number | null, looked?: boolean}[]} scores by name; the one looked at, if any, stands out */
export const scoreList = (scores) => element("dl", {class: "image-scores", "aria-label": "Scores"},
  ...scores.map(({label, score, looked = false}) => element("div", {class: looked ? "looked" : null},
    element("dt", {}, label), element("dd", {}, imageScore(score)))));

/**
 * A caption below who wrote it; `side` is its colour.
 * @type {(side: string | null, who: Node[], candidate: string | null, references: string[], ...more: Node[]) => HTMLElement}
 */
export const attributed = (side, who, candidate, references, ...more) => element("div", {class: `system-caption ${side ?? ""}`},
  element("p", {class: "who"}, ...who), markedCandidate(candidate, references), ...more);

/** @type {(photos: HTMLElement[], ...text: HTMLElement[]) => HTMLElement[]} Photo, if there is one, and text side by side. */
export const besidePhoto = (photos, ...text) =>
  (photos.length ? [element("div", {class: "beside"}, ...photos, element("div", {}, ...text))] : text);

/**
 * The photo of an image as a button that enlarges it, in a list of one; an empty list without a photo. It is called by
 * its id where nobody describes it; its text names the objects in its boxes.
 * @type {(image: {id: string, references: string[], photo: string | null}, kind?: "row" | "card" | "large",
 *   boxes?: Element[]) => HTMLElement[]}
 */
export const photo = ({id, references, photo: address}, kind = "card", boxes = []) => {
  if (!address) return [];
  const shown = boxes.map((svg) => /** @type {Element} */ (svg.cloneNode(true)));
  const text = [nearest(references) || id, ...shown.map((svg) => svg.getAttribute("aria-label"))].join(" · ");
  // Nothing in a button takes the focus: the boxes of the enlarged photo do.
  for (const node of shown.flatMap((svg) => [...svg.children])) node.removeAttribute("tabindex");
  const image = element("img", {src: address, alt: text, loading: "lazy", decoding: "async",
    error: () => button.remove()});
  const button = element("button", {type: "button", class: `photo ${kind}`, title: "Enlarge", click: (event) => {
    event.stopPropagation();
    // As large as the screen allows, but a small image would only be blurred; a click anywhere, Escape or the button closes.
    const large = element("img", {src: address, alt: text, load: () => {
      large.style.maxWidth = `${3 * large.naturalWidth}px`;
    }});
    const dialog = element("dialog", {class: "enlarged", "aria-label": id, click: () => dialog.close(),
      close: () => dialog.remove()},
    element("div", {class: "boxed"}, large, ...boxes),
    element("p", {}, element("bdi", {}, text), element("button", {type: "button", autofocus: true}, "Close")));
    document.body.append(dialog);
    dialog.showModal();
  }}, image, ...shown);
  return [button];
};

/** @param {string[]} references of which that with most words in common with the others describes the image best */
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

// Two captions side by side: of two systems, or of a pair that people judged

export const SIDES = ["first", "second"];

/**
 * The cells of a row: captions, scores, and their difference, which may be wrong.
 * @type {(captions: (string | null)[], scores: (number | null)[], gap: number | null, wrong?: boolean) =>
 *   HTMLTableCellElement[]}
 */
export const pairCells = (captions, scores, gap, wrong = false) => [
  cell("caption", ...captions.map((caption, side) => element("p", {class: SIDES[side]}, caption ?? ""))),
  ...scores.map((score, side) => cell(`score ${SIDES[side]}`, imageScore(score))),
  cell(wrong ? "score gap wrong" : "score gap", gap === null ? "" : signed(gap))];

// Lists of images, captions or pairs: search, order, controls, pages, and rows that open

/**
 * What is listed: an image and the texts that the search reads besides its id and its references.
 * @typedef {{id: string, references: string[], photo: string | null, candidates: (string | null)[]}} Item
 *
 * An order: of the least values first if it is `rising`, of the largest otherwise, and always with null last. It may show
 * a part only.
 * @typedef {{name: string, value: (number: number) => string | number | null, rising?: boolean,
 *   shows?: (number: number) => boolean}} Order
 *
 * All by the items' numbers. `passes` is what other controls let through; `details` has the item's large photo; `shown`
 * hears which are left, in their order; `most` are the rows on a page.
 * @typedef {{kind?: string, caption: string, placeholder: string, items: Item[], most?: number,
 *   named?: (count: number) => string, ordered: string, orders: () => Order[],
 *   controls?: (order: HTMLElement) => HTMLElement[], passes?: (number: number) => boolean,
 *   heads: () => HTMLTableCellElement[], cells: (number: number) => HTMLTableCellElement[],
 *   details: (number: number, large: HTMLElement[]) => Child[], shown?: (left: number[]) => void}} Listing
 */

const collator = new Intl.Collator("en", {numeric: true});

/**
 * Adds a list to the page: the control of its order, what shows it from its first page on, after a change, and what draws
 * the page again.
 * @param {Listing} listing
 */
export function listed({kind = "", caption, placeholder, items, most = 25, named = images, ordered, orders,
  controls = (order) => [order], passes = () => true, heads, cells, details, shown}) {
  const searched = items.map(({id, candidates, references}) =>
    [id, ...candidates.map((text) => text ?? ""), ...references].join("\n").toLowerCase());
  /** @type {Set<number>} */
  const open = new Set();
  let page = 0;
  /** @type {number[]} */
  let left = [];
  const order = choice(ordered, orders().map(({name}) => name), () => update());
  const search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false", placeholder,
    input: () => update()});
  const status = element("p", {class: "status", role: "status"});
  const headRow = element("tr", {role: "row"});
  const body = element("tbody", {role: "rowgroup"});
  const place = element("span", {class: "place"});
  const last = () => Math.max(Math.ceil(left.length / most), 1) - 1;
  const turning = (/** @type {string} */ name, /** @type {() => number} */ to) =>
    element("button", {type: "button", click: () => turn(to())}, name);
  const back = [turning("First", () => 0), turning("Previous", () => page - 1)];
  const forth = [turning("Next", () => page + 1), turning("Last", last)];
  byId("images").append(
    element("div", {class: "controls"}, element("label", {class: "control", for: "search"}, "Search"), search,
      ...controls(order.label), status),
    element("div", {class: "grid"}, element("table", {class: `images ${kind}`, role: "table"},
      element("caption", {}, caption), element("thead", {role: "rowgroup"}, headRow), body)),
    element("nav", {class: "pager", "aria-label": "Pages of the table"}, ...back, place, ...forth),
  );

  const across = (/** @type {string} */ kind, /** @type {Child[]} */ ...content) => {
    const only = cell(null, ...content);
    only.colSpan = headRow.cells.length;
    return element("tr", {class: kind, role: "row"}, only);
  };

  /** An item's row, and below it, where open, its details. */
  const rows = (/** @type {number} */ number) => {
    const item = items[number];
    const button = element("button", {type: "button", "aria-expanded": String(open.has(number))}, element("bdi", {}, item.id));
    const small = photo(item, "row");
    const name = small.length ? element("div", {class: "named"}, ...small, button) : button;
    const opened = () => across("details", ...details(number, photo(item, "large", drawing(number, "boxes"))));
    // A click anywhere on it opens it, unless it ended a selection of text.
    const node = element("tr", {class: "image", role: "row", click: () => {
      if (String(getSelection())) return;
      const opens = !open.delete(number);
      if (opens) {
        open.add(number);
        node.after(opened());
      } else {
        node.nextElementSibling?.remove();
      }
      button.setAttribute("aria-expanded", String(opens));
    }}, element("th", {scope: "row", role: "rowheader", class: "id"}, name), ...cells(number));
    return open.has(number) ? [node, opened()] : [node];
  };

  const turn = (/** @type {number} */ to) => {
    page = to;
    const start = page * most;
    const numbers = left.slice(start, start + most);
    place.textContent = numbers.length ? `${whole(start + 1)}–${whole(start + numbers.length)} of ${whole(left.length)}` : "";
    back.forEach((button) => { button.disabled = page === 0; });
    forth.forEach((button) => { button.disabled = page >= last(); });
    headRow.replaceChildren(...heads());
    body.replaceChildren(...(numbers.length ? numbers.flatMap(rows) : [across("", element("p", {class: "nothing"},
      `Nothing matches. Search looks for every word in ${placeholder}.`))]));
  };

  /** Shows those that have every word searched for and pass, in the order chosen. */
  const update = () => {
    const all = orders();
    all.forEach(({name}, at) => { order.select.options[at].text = name; });
    const {value, rising = false, shows = () => true} = all[order.number];
    const values = items.map((_, number) => value(number));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    left = searched.flatMap((text, number) =>
      (passes(number) && shows(number) && words.every((word) => text.includes(word)) ? [number] : []));
    left.sort((a, b) => {
      const [low, high] = rising ? [values[a], values[b]] : [values[b], values[a]];
      if (low === null || high === null) return Number(values[a] === null) - Number(values[b] === null);
      return typeof low === "string" ? collator.compare(low, String(high)) : low - Number(high);
    });
    status.textContent = left.length === items.length ? named(items.length) : `${whole(left.length)} of ${named(items.length)}`;
    shown?.(left);
    turn(0);
  };
  return {order, update, again: () => turn(page)};
}

// Pictures that Python drew: their marks tell what they are, and the reader hides systems

// Below each picture, what is under the pointer or the focus.
for (const figure of document.querySelectorAll(".plots > .picture")) {
  const readout = element("p", {class: "readout", "aria-live": "polite"});
  figure.append(readout);
  for (const event of ["pointerover", "focusin"]) {
    figure.addEventListener(event, ({target}) => {
      const title = target instanceof Element && target.closest("[tabindex]")?.querySelector("title");
      if (title) readout.textContent = title.textContent;
    });
  }
}

/** @type {Set<number>} The numbers of the systems that are not shown: the boxes of the page say which, and pictures follow. */
export const hiddenSystems = new Set();
document.getElementById("chooser")?.addEventListener("change", ({target}) => {
  if (!(target instanceof HTMLInputElement)) return;
  // As the box is now, whatever it was: browsers that come back to a page leave the boxes as they were.
  hiddenSystems[target.checked ? "delete" : "add"](Number(target.dataset.system));
  hide(document);
});

/** @type {(root: ParentNode) => void} Hides systems in pictures, and pictures of one system alone. */
export const hide = (root) => {
  for (const figure of /** @type {NodeListOf<HTMLElement>} */ (root.querySelectorAll(".picture"))) {
    const systems = (figure.dataset.systems ?? "").split(" ").map(Number);
    if (figure.closest(".planes")) figure.hidden = hiddenSystems.has(systems[0]);
    else systems.forEach((system, look) => figure.querySelectorAll(`.look-${look}`).forEach((node) =>
      node.toggleAttribute("hidden", hiddenSystems.has(system))));
  }
};
