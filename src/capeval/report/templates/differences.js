// The images, those first where the two systems differ most; rows open to the captions of all systems.

const ROWS = 25;

class Differences {
  constructor(report) {
    this.report = report;
    this.open = new Set();
    this.body = element("tbody");
    this.heads = ["Image", "Captions", "", "", "Difference"].map((name, number) =>
      element("th", {scope: "col", class: number > 1 ? "score" : null}, name));
    const turn = (name, to) => element("button", {type: "button", click: () => this.turn(to())}, name);
    this.back = [turn("First", () => 0), turn("Previous", () => this.page - 1)];
    this.forth = [turn("Next", () => this.page + 1), turn("Last", () => this.pages - 1)];
    this.range = element("span", {class: "place"});
    document.getElementById("differences").append(
      element("table", {class: "differences"}, element("caption", {}, "Images and their scores by both systems."),
        element("thead", {}, element("tr", {}, ...this.heads)), this.body),
      element("nav", {class: "pager", "aria-label": "Pages of the table"}, ...this.back, this.range, ...this.forth));
  }

  show({a, b, metric}, found) {
    Object.assign(this, {a, b, metric: this.report.metrics[metric]});
    this.found = found;
    this.pages = Math.max(Math.ceil(found.length / ROWS), 1);
    [this.heads[2].textContent, this.heads[3].textContent] = [this.report.systems[a], this.report.systems[b]];
    this.turn(0);
  }

  turn(page) {
    this.page = page;
    const shown = this.found.slice(page * ROWS, (page + 1) * ROWS);
    this.range.textContent = shown.length
      ? `${whole(page * ROWS + 1)}–${whole(page * ROWS + shown.length)} of ${whole(this.found.length)}` : "";
    this.back.forEach((button) => { button.disabled = page === 0; });
    this.forth.forEach((button) => { button.disabled = page >= this.pages - 1; });
    this.body.replaceChildren(...(shown.length ? shown.flatMap((number) => this.rows(number)) : [element("tr", {},
      element("td", {class: "nothing", colspan: 5},
        "No image matches. Search looks for every word in the id, the candidates and the references."))]));
  }

  rows(number) {
    const image = this.report.images[number];
    const [x, y] = [this.metric.scores[this.a][number], this.metric.scores[this.b][number]];
    const button = element("button", {type: "button", "aria-expanded": String(this.open.has(number))}, image.id);
    const caption = (system, side) => element("p", {class: side}, image.candidates[system] ?? "");
    const row = element("tr", {class: "image", click: () => this.toggle(number, row, button)},
      element("th", {scope: "row", class: "id"}, button),
      element("td", {class: "caption"}, caption(this.a, "first"), caption(this.b, "second")),
      element("td", {class: "score first"}, imageScore(x)),
      element("td", {class: "score second"}, imageScore(y)),
      element("td", {class: "score gap"}, `${x < y ? "−" : x > y ? "+" : ""}${imageScore(Math.abs(x - y))}`));
    return this.open.has(number) ? [row, this.details(number)] : [row];
  }

  toggle(number, row, button) {
    if (getSelection().toString()) return; // the click ended a selection of text
    const opens = !this.open.delete(number);
    if (opens) {
      this.open.add(number);
      row.after(this.details(number));
    } else {
      row.nextSibling.remove();
    }
    button.setAttribute("aria-expanded", String(opens));
  }

  details(number) {
    const systems = this.report.systems.map((_, system) => systemCaption(this.report, number, system, this.metric,
      system === this.a ? "first" : system === this.b ? "second" : null));
    return element("tr", {class: "details"}, element("td", {colspan: 5}, ...systems,
      referenceList(this.report.images[number])));
  }
}
