// One image: the caption sets of the systems side by side, how similar their captions are, and what they are about.

const MOST_CELLS = 40;

class SetImage {
  constructor(report, image, hidden) {
    this.report = report;
    this.image = image;
    this.readout = element("p", {class: "readout", "aria-live": "polite"},
      "Point at a caption, a mark or a cell, or reach it by Tab: its counterparts light up.");
    /** Nodes that stand for a caption, by system and caption. */
    this.parts = new Map();
    const shown = report.systems.map((_, number) => number).filter((number) => image.captions[number] && !hidden.has(number));
    const columns = shown.map((number) => this.column(number));
    this.node = element("div", {class: "set-image"},
      ...(image.drawn ? [element("div", {class: "overview"}, this.scaling(shown), this.readout)]
        : [element("p", {class: "legend"}, `Similarities, places and topics are on the page for ${images(report.drawn)} only: `
          + "the most and the least diverse, and those of --images.")]),
      element("div", {class: "sets"}, ...columns));
  }

  column(number) {
    const {image, report} = this;
    const figures = [["diversity", report.spread], ["accuracy", report.accuracy]]
      .filter(([kind]) => image[kind][number] !== null)
      .map(([kind, name]) => element("div", {}, element("dt", {}, name), element("dd", {}, imageScore(image[kind][number]))));
    return element("article", {class: "set"},
      element("h3", {}, systemName(report, number)), element("dl", {class: "image-scores"}, ...figures),
      element("ol", {class: "captions"}, ...image.captions[number].map((text, place) => this.caption(number, text, place))),
      ...(image.drawn ? [this.heatMap(number), this.topics(number)] : []));
  }

  caption(number, text, place) {
    const item = element("li", {dir: "auto", tabindex: this.image.drawn ? "0" : null}, text || element("span", {class: "nothing"}, "empty caption"));
    return this.part(item, number, [place]);
  }

  /** Links a node to the captions it stands for: looking at one shows the others. */
  part(node, number, places, text = null) {
    for (const place of places) {
      const name = `${number} ${place}`;
      this.parts.set(name, [...(this.parts.get(name) ?? []), node]);
    }
    for (const [event, on] of [["mouseenter", true], ["focus", true], ["mouseleave", false], ["blur", false]]) {
      node.addEventListener(event, () => this.look(number, places, on, text));
    }
    return node;
  }

  look(number, places, on, text) {
    for (const place of places) this.parts.get(`${number} ${place}`).forEach((node) => node.classList.toggle("looked", on));
    if (on && this.image.drawn) {
      this.readout.textContent = text ?? `${this.report.systems[number].name}: ${this.image.captions[number][places[0]]}`;
    }
  }

  /** All captions in one plane, near where they are similar. */
  scaling(shown) {
    const {marks, share} = this.image.drawn;
    const size = 300;
    const reach = Math.max(...marks.flatMap(([, x, y]) => [Math.abs(x), Math.abs(y)])) || 1;
    const at = (value) => size / 2 + (value / reach) * (size / 2 - 22);
    const drawn = marks.filter(([number]) => shown.includes(number)).sort((a, b) => b[3].length - a[3].length)
      .map(([number, x, y, places]) => {
        const system = this.report.systems[number];
        const repeats = places.length > 1 ? ` (${places.length} times)` : "";
        const text = `${system.name}: ${this.image.captions[number][places[0]]}${repeats}`;
        const mark = markOf(system, at(x).toFixed(1), at(-y).toFixed(1), 5 * Math.sqrt(places.length),
          {tabindex: "0", role: "img", "aria-label": text});
        mark.append(shape("title", {}, text));
        return this.part(mark, number, places, text);
      });
    return element("figure", {class: "scaling"},
      element("figcaption", {class: "legend"}, `Captions by similarity: near is similar, a larger mark repeats. The plane shows `
        + `${(100 * share).toFixed(0)}% of the squared distances.`),
      shape("svg", {class: "plane", viewBox: `0 0 ${size} ${size}`, role: "group", "aria-label": "Captions by similarity"},
        shape("rect", {class: "frame", x: 0.5, y: 0.5, width: size - 1, height: size - 1}), ...drawn));
  }

  /** Similarities of every two captions of a set. */
  heatMap(number) {
    const count = this.image.captions[number].length;
    const shown = Math.min(count, MOST_CELLS);
    const packed = this.image.drawn.similarities[number];
    const between = (i, j) => packed[Math.min(i, j) * count - (Math.min(i, j) * (Math.min(i, j) - 1)) / 2 + Math.abs(i - j)] / 100;
    const cells = [];
    let sum = 0;
    for (let i = 0; i < shown; i += 1) {
      for (let j = 0; j < shown; j += 1) {
        if (i !== j) sum += between(i, j);
        cells.push(this.cell(number, i, j, between(i, j)));
      }
    }
    const mean = shown > 1 ? ` Mean of two different ones: ${(sum / (shown * (shown - 1))).toFixed(2)}.` : "";
    const part = shown < count ? ` The first ${shown} of ${count}.` : "";
    return element("figure", {}, element("figcaption", {class: "legend"}, `Similarity of captions, 0 (pale) to 1.${mean}${part}`),
      shape("svg", {class: "heat-map", viewBox: `0 0 ${shown} ${shown}`, role: "img",
        "aria-label": `Similarity matrix of ${this.report.systems[number].name}.${mean}`}, ...cells));
  }

  cell(number, i, j, value) {
    const cell = shape("rect", {class: "cell", x: j + 0.04, y: i + 0.04, width: 0.92, height: 0.92,
      "fill-opacity": Math.min(Math.max(value, 0.04), 1)});
    return this.part(cell, number, i === j ? [i] : [i, j], `captions ${i + 1} and ${j + 1}: ${value.toFixed(2)}`);
  }

  /** A radar of the leading topics, a line a caption, and the words of each topic. */
  topics(number) {
    const topics = this.image.drawn.topics[number];
    const furthest = Math.max(...topics.flatMap((topic) => topic.loads.map(Math.abs))) || 1;
    const angle = (spoke) => -Math.PI / 2 + (2 * Math.PI * spoke) / 5;
    const at = (spoke, share) => [100 + 78 * share * Math.cos(angle(spoke)), 100 + 78 * share * Math.sin(angle(spoke))];
    const ring = (share) => closed("ring", [0, 1, 2, 3, 4].map((spoke) => at(spoke, share)));
    const colour = inkOf(this.report.systems[number]);
    const lines = this.image.captions[number].map((_, place) => this.part(
      closed("radar", [0, 1, 2, 3, 4].map((spoke) => at(spoke, Math.abs(topics[spoke]?.loads[place] ?? 0) / furthest)), colour),
      number, [place]));
    const numbers = [0, 1, 2, 3, 4].map((spoke) => {
      const [x, y] = at(spoke, 1.14);
      return label("tick", x, y + 4, String(spoke + 1), "middle");
    });
    const named = topics.map((topic) => element("li", {},
      element("bdi", {}, topic.words.map(([word, against]) => (against ? "−" : "") + word).join(", ") || "–"),
      element("span", {class: "legend"}, ` ${(100 * topic.share).toFixed(0)}%`)));
    return element("figure", {}, element("figcaption", {class: "legend"},
      "Latent topics, without stop words: how far a line reaches is how much its caption is about the topic, or against it."),
    shape("svg", {class: "radar-chart", viewBox: "0 0 200 200", role: "img",
      "aria-label": `Captions of ${this.report.systems[number].name} over their topics`}, ring(0.5), ring(1), ...numbers, ...lines),
    element("ol", {class: "topics"}, ...named));
  }
}

function closed(kind, points, colour = null) {
  const node = path(kind, points, colour);
  node.setAttribute("d", `${node.getAttribute("d")}Z`);
  if (colour) node.setAttribute("fill", colour);
  return node;
}
