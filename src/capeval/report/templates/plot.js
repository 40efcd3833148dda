// A picture with two axes, which draws itself at the width it has and says what the mark looked at is.

const MARGIN = {left: 56, right: 14, top: 12, bottom: 44};

/** A scale from values to places: `ticks` are round values. */
function linear(least, most, from, to, wanted = 6) {
  const step = roundStep((most - least) / wanted);
  const ticks = [];
  for (let number = Math.ceil(least / step - 1e-9); number * step <= most + step * 1e-9; number += 1) {
    ticks.push(parseFloat((number * step).toPrecision(12)));
  }
  return {at: (value) => from + ((value - least) / (most - least || 1)) * (to - from), ticks};
}

function logarithmic(least, most, from, to) {
  const ticks = [];
  for (let power = Math.ceil(Math.log10(least) - 1e-9); 10 ** power <= most * (1 + 1e-9); power += 1) {
    ticks.push(parseFloat((10 ** power).toPrecision(12)));
  }
  const [low, high] = [Math.log(least), Math.log(most)];
  return {at: (value) => from + ((Math.log(value) - low) / (high - low || 1)) * (to - from), ticks};
}

function roundStep(rough) {
  const power = 10 ** Math.floor(Math.log10(rough || 1));
  return [1, 2, 2.5, 5, 10].find((factor) => factor * power >= rough - 1e-12) * power;
}

/** Ends of an axis that leave some room around the values; never above the limit. */
function around(values, limit = Infinity) {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = 0.12 * (most - least || Math.abs(most) || 1);
  return [Math.max(least - room, Math.min(least, 0)), Math.min(most + room, Math.max(limit, most))];
}

const tickName = (value) => value.toLocaleString("en", {maximumSignificantDigits: 4});

class Plot {
  /** `paint(plot)` draws: it calls `axes` first, then `put`. `least` can be set to a height that it needs. */
  constructor(title, note, paint) {
    this.paint = paint;
    this.readout = element("p", {class: "readout", "aria-live": "polite"});
    this.svg = shape("svg", {class: "plot2", role: "group", "aria-label": title});
    this.box = element("div", {class: "plot-box"}, this.svg);
    this.figure = element("figure", {class: "picture"},
      element("figcaption", {}, element("strong", {}, title), element("span", {class: "legend"}, note)), this.box,
      this.readout);
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  draw() {
    this.width = this.box.clientWidth;
    this.height = Math.max(Math.min(Math.max(0.62 * this.width, 250), 420), this.least ?? 0);
    if (!this.width) return;
    this.svg.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.svg.setAttribute("height", this.height);
    this.svg.replaceChildren();
    this.readout.textContent = "";
    this.paint(this);
  }

  /** Draws axes; `x` and `y` are [label, least, most, scale]; `margin` is the room on the right. */
  axes([xLabel, xLeast, xMost, xScale = linear], [yLabel, yLeast, yMost, yScale = linear], margin = MARGIN.right) {
    const [left, right] = [MARGIN.left, this.width - margin];
    const [top, bottom] = [MARGIN.top, this.height - MARGIN.bottom];
    this.x = xScale(xLeast, xMost, left, right, this.width < 420 ? 4 : 7);
    this.y = yScale(yLeast, yMost, bottom, top);
    for (const tick of this.x.ticks) {
      this.put(line("grid", this.x.at(tick), top, this.x.at(tick), bottom),
        label("tick", this.x.at(tick), bottom + 16, tickName(tick), "middle"));
    }
    for (const tick of this.y.ticks) {
      this.put(line("grid", left, this.y.at(tick), right, this.y.at(tick)),
        label("tick", left - 7, this.y.at(tick) + 4, tickName(tick), "end"));
    }
    const side = label("axis-label", 0, 0, yLabel, "middle");
    side.setAttribute("transform", `translate(13 ${(top + bottom) / 2}) rotate(-90)`);
    this.put(line("axis", left, bottom, right, bottom), line("axis", left, top, left, bottom), side,
      label("axis-label", (left + right) / 2, this.height - 8, xLabel, "middle"));
  }

  put(...nodes) { this.svg.append(...nodes); }

  /** A mark that says `text` when it is pointed at or focused. */
  spot(system, x, y, text, radius = 6) {
    this.put(this.telling(markOf(system, x, y, radius), text));
  }

  telling(node, text) {
    node.setAttribute("tabindex", "0");
    node.setAttribute("role", "img");
    node.setAttribute("aria-label", text);
    node.append(shape("title", {}, text));
    for (const event of ["mouseenter", "focus"]) {
      node.addEventListener(event, () => { this.readout.textContent = text; });
    }
    return node;
  }
}

const line = (kind, x1, y1, x2, y2) => shape("line", {class: kind, x1, y1, x2, y2});
const label = (kind, x, y, text, anchor) => shape("text", {class: kind, x, y, "text-anchor": anchor}, text);
const path = (kind, points, colour) => shape("path", {class: kind, stroke: colour,
  d: points.map(([x, y], number) => `${number ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`).join("")});
