// The images, those first where the two systems differ most; rows open to the captions of all systems.

const ROWS = 25;

class Differences extends PagedTable {
  constructor(report) {
    super(report, ROWS);
    this.body = element("tbody");
    this.heads = ["Image", "Captions", "", "", "Difference"].map((name, number) =>
      element("th", {scope: "col", class: number > 1 ? "score" : null}, name));
    document.getElementById("differences").append(
      element("table", {class: "differences"}, element("caption", {}, "Images and their scores by both systems."),
        element("thead", {}, element("tr", {}, ...this.heads)), this.body),
      this.pager());
  }

  show({a, b, metric}, found) {
    Object.assign(this, {a, b, metric: this.report.metrics[metric]});
    [this.heads[2].textContent, this.heads[3].textContent] = [this.report.systems[a], this.report.systems[b]];
    this.list(found);
  }

  rows(number) {
    const image = this.report.images[number];
    const [x, y] = [this.metric.scores[this.a][number], this.metric.scores[this.b][number]];
    const button = element("button", {type: "button", "aria-expanded": String(this.open.has(number))}, image.id);
    const caption = (system, side) => element("p", {class: side}, image.candidates[system] ?? "");
    const row = element("tr", {class: "image", click: () => this.clicked(number, row, button)},
      element("th", {scope: "row", class: "id"}, button),
      element("td", {class: "caption"}, caption(this.a, "first"), caption(this.b, "second")),
      element("td", {class: "score first"}, imageScore(x)),
      element("td", {class: "score second"}, imageScore(y)),
      element("td", {class: "score gap"}, `${x < y ? "−" : x > y ? "+" : ""}${imageScore(Math.abs(x - y))}`));
    return this.open.has(number) ? [row, this.details(number)] : [row];
  }

  details(number) {
    const systems = this.report.systems.map((_, system) => systemCaption(this.report, number, system, this.metric,
      system === this.a ? "first" : system === this.b ? "second" : null));
    return element("tr", {class: "details"}, element("td", {colspan: 5}, ...systems,
      referenceList(this.report.images[number])));
  }

  nothing() {
    return element("tr", {}, element("td", {class: "nothing", colspan: 5},
      "No image matches. Search looks for every word in the id, the candidates and the references."));
  }
}
