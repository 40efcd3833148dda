// Scores of the images by two systems, a point an image, on one canvas; the nearest point tells its captions.

const MARGIN = {left: 44, right: 10, top: 10, bottom: 38};
const RADIUS = 3;
const REACH = 24; // pixels within which a point is the nearest

class Scatter {
  constructor(report) {
    this.report = report;
    this.canvas = element("canvas", {class: "scatter", role: "img", tabindex: "0",
      pointermove: (event) => this.hover(event), pointerdown: (event) => this.hover(event),
      keydown: (event) => this.step(event)});
    this.tally = element("p", {class: "tally", role: "status"});
    this.details = element("div", {class: "point", "aria-live": "polite"});
    document.getElementById("scatter").append(element("div", {class: "plot-and-point"},
      element("figure", {}, this.canvas, this.tally), this.details));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** Shows two systems and a metric, by number; `found` are the numbers of the images that the search left. */
  show({a, b, metric}, found) {
    Object.assign(this, {a, b, metric: this.report.metrics[metric]});
    [this.x, this.y] = [this.metric.scores[a], this.metric.scores[b]];
    this.found = found;
    this.inFound = new Set(found);
    const most = Math.max(...this.x.map((x, number) => Math.max(x, this.y[number])));
    this.step_ = niceStep(most > 0 ? most : 1);
    this.end = this.step_ * Math.max(Math.ceil((most - 1e-9) / this.step_), 1);
    const counts = [0, 0, 0];
    found.forEach((number) => { counts[Math.sign(this.x[number] - this.y[number]) + 1] += 1; });
    const [first, second] = [this.report.systems[a], this.report.systems[b]];
    const told = `${first} better on ${images(counts[2])}, ${second} on ${whole(counts[0])}, equal on ${whole(counts[1])}`;
    this.tally.textContent = told;
    this.canvas.setAttribute("aria-label",
      `${this.metric.label} of ${first} (across) and ${second} (up): ${told}. Arrow keys go from image to image.`);
    this.order = [...found].sort((p, q) => this.x[q] - this.y[q] - (this.x[p] - this.y[p]));
    this.tell(this.inFound.has(this.told) ? this.told : this.order[0]);
  }

  place(number) {
    const {width, height} = this.area;
    return [MARGIN.left + (this.x[number] / this.end) * width, MARGIN.top + (1 - this.y[number] / this.end) * height];
  }

  draw() {
    const {clientWidth, clientHeight} = this.canvas;
    if (!clientWidth || !this.x) return;
    const scale = devicePixelRatio;
    [this.canvas.width, this.canvas.height] = [clientWidth * scale, clientHeight * scale];
    this.area = {width: clientWidth - MARGIN.left - MARGIN.right, height: clientHeight - MARGIN.top - MARGIN.bottom};
    const pen = this.canvas.getContext("2d");
    pen.scale(scale, scale);
    const styles = getComputedStyle(document.documentElement);
    const colour = (name) => styles.getPropertyValue(name).trim();
    pen.font = `12px ${getComputedStyle(document.body).fontFamily}`;
    this.axes(pen, colour);
    pen.globalAlpha = this.found.length > 1000 ? 0.45 : 0.75;
    for (const number of this.found) {
      const sign = Math.sign(this.x[number] - this.y[number]);
      pen.fillStyle = colour(sign > 0 ? "--first" : sign < 0 ? "--second" : "--soft");
      this.dot(pen, number, RADIUS);
      pen.fill();
    }
    pen.globalAlpha = 1;
    if (this.told !== undefined) {
      pen.strokeStyle = colour("--ink");
      pen.lineWidth = 2;
      this.dot(pen, this.told, RADIUS + 3);
      pen.stroke();
    }
  }

  dot(pen, number, radius) {
    pen.beginPath();
    pen.arc(...this.place(number), radius, 0, 2 * Math.PI);
  }

  axes(pen, colour) {
    const {width, height} = this.area;
    const [left, bottom] = [MARGIN.left, MARGIN.top + height];
    pen.strokeStyle = colour("--rule");
    pen.fillStyle = colour("--soft");
    pen.lineWidth = 1;
    for (let tick = 0; tick <= Math.round(this.end / this.step_); tick += 1) {
      const value = tick * this.step_;
      const [x, y] = [left + (value / this.end) * width, bottom - (value / this.end) * height];
      line(pen, x, MARGIN.top, x, bottom);
      line(pen, left, y, left + width, y);
      const text = String(parseFloat(value.toFixed(6)));
      pen.textAlign = "center";
      pen.fillText(text, Math.min(x, left + width - 4), bottom + 15);
      pen.textAlign = "right";
      pen.fillText(text, left - 5, y + 4);
    }
    pen.strokeStyle = colour("--strong-rule");
    line(pen, left, bottom, left + width, MARGIN.top);
    pen.textAlign = "center";
    pen.fillStyle = colour("--first");
    pen.fillText(fitted(pen, this.report.systems[this.a], width), left + width / 2, bottom + 32);
    pen.save();
    pen.translate(11, MARGIN.top + height / 2);
    pen.rotate(-Math.PI / 2);
    pen.fillStyle = colour("--second");
    pen.fillText(fitted(pen, this.report.systems[this.b], height), 0, 0);
    pen.restore();
  }

  hover(event) {
    const box = this.canvas.getBoundingClientRect();
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    let [nearest, least] = [undefined, REACH ** 2];
    for (const number of this.found) {
      const [px, py] = this.place(number);
      const distance = (px - x) ** 2 + (py - y) ** 2;
      if (distance < least) [nearest, least] = [number, distance];
    }
    if (nearest !== undefined && nearest !== this.told) this.tell(nearest);
  }

  /** The arrow keys go through the images from the first system's best to the second's. */
  step(event) {
    const by = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    const to = by && this.order[this.order.indexOf(this.told) + by];
    if (to === undefined) return;
    event.preventDefault();
    this.tell(to);
  }

  tell(number) {
    this.told = number;
    this.draw();
    if (number === undefined) {
      this.details.replaceChildren(element("p", {class: "nothing"}, "No image matches."));
      return;
    }
    const image = this.report.images[number];
    this.details.replaceChildren(element("h3", {}, image.id),
      ...[["first", this.a], ["second", this.b]].map(([side, system]) => systemCaption(this.report, number, system, this.metric, side)),
      referenceList(image));
  }
}

/** A system's caption of an image, with its score. */
function systemCaption(report, number, system, metric, side) {
  const image = report.images[number];
  const caption = markedCandidate({candidate: image.candidates[system], references: image.references});
  return element("div", {class: `system-caption ${side ?? ""}`},
    element("p", {class: "who"}, element("span", {class: "name"}, report.systems[system]),
      element("span", {class: "value"}, imageScore(metric.scores[system][number]))), caption);
}

function line(pen, x1, y1, x2, y2) {
  pen.beginPath();
  pen.moveTo(x1, y1);
  pen.lineTo(x2, y2);
  pen.stroke();
}

/** The text, cut where it is wider than that. */
function fitted(pen, text, width) {
  let shown = text;
  while (shown.length > 1 && pen.measureText(shown).width > width) shown = `${shown.slice(0, -2)}…`;
  return shown;
}

/** 1, 2 or 5 times a power of ten, of which four to eight fit. */
function niceStep(most) {
  const power = 10 ** Math.floor(Math.log10(most / 5));
  return [1, 2, 5, 10].map((factor) => factor * power).find((step) => most / step <= 6);
}
