// The images: search, order, pages, and rows that open to the caption sets.

const ROWS = 25;

class SetTable extends PagedTable {
  constructor(report, hidden) {
    super(report, ROWS);
    this.hidden = hidden;
    this.texts = report.images.map((image) => [image.id, ...image.captions.flatMap((set) => set ?? [])].join("\n").toLowerCase());
    this.orders = setOrders(report);
    document.getElementById("table").append(...partNote(report), this.controls(), this.grid(), this.pager());
    this.find();
  }

  controls() {
    this.search = element("input", {type: "search", id: "search", autocomplete: "off", spellcheck: "false",
      placeholder: "id or caption", input: () => this.find()});
    this.sort = element("select", {change: () => this.find()},
      ...this.orders.map(({name}, number) => element("option", {value: number}, name)));
    this.status = element("p", {class: "status", role: "status"});
    return element("div", {class: "controls"}, element("label", {class: "control", for: "search"}, "Search"), this.search,
      element("label", {class: "control"}, "Order ", this.sort), this.status);
  }

  grid() {
    this.head = element("tr", {});
    this.body = element("tbody", {});
    return element("div", {class: "wide-table"}, element("table", {class: "set-table"},
      element("caption", {}, `Images, one row an image, with the diversity of each system’s captions; a row opens to them.`),
      element("thead", {}, this.head), this.body));
  }

  /** Shows the images that have every part of the search in their id or captions, in the order chosen. */
  find() {
    const parts = this.search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const {value, sign} = this.orders[this.sort.value];
    const keys = this.report.images.map(value);
    const found = this.report.images.map((_, number) => number)
      .filter((number) => parts.every((part) => this.texts[number].includes(part)));
    if (sign) found.sort((a, b) => sign * (keys[a] - keys[b]));
    const all = this.report.images.length;
    this.status.textContent = found.length === all ? images(all) : `${whole(found.length)} of ${images(all)}`;
    this.list(found);
  }

  turn(page) {
    this.columns = this.report.systems.map((_, number) => number).filter((number) => !this.hidden.has(number));
    this.head.replaceChildren(element("th", {scope: "col"}, "Image"),
      ...(this.report.spread ? this.columns : []).map((number) => element("th", {scope: "col"}, systemName(this.report, number))));
    super.turn(page);
  }

  rows(number) {
    const image = this.report.images[number];
    const button = element("button", {type: "button", "aria-expanded": String(this.open.has(number)),
      click: () => this.toggle(number, row, button)}, element("bdi", {}, image.id));
    const row = element("tr", {class: "image"}, element("th", {scope: "row", class: "id"}, button),
      ...(this.report.spread ? this.columns : []).map((column) => element("td", {class: "score"},
        image.diversity[column] === null ? "–" : imageScore(image.diversity[column]))));
    return this.open.has(number) ? [row, this.details(number)] : [row];
  }

  details(number) {
    return element("tr", {class: "details"}, element("td", {colspan: this.columns.length + 1},
      new SetImage(this.report, this.report.images[number], this.hidden).node));
  }

  nothing() {
    return element("tr", {}, element("td", {class: "nothing", colspan: this.columns.length + 1},
      "No image matches. Search looks for every word in the id and the captions."));
  }
}

/** Orders of the images: `sign` is 1 for the least value first, 0 for the order of the file. */
function setOrders(report) {
  const file = {name: "as in the file", value: () => 0, sign: 0};
  if (!report.spread) return [file];
  const own = (image) => image.diversity.filter((value, number) => value !== null && !report.systems[number].people);
  const mean = (image) => own(image).reduce((a, b) => a + b, 0) / own(image).length;
  const apart = (image) => Math.max(...own(image)) - Math.min(...own(image));
  return [
    {name: "least diverse first", value: mean, sign: 1},
    {name: "most diverse first", value: mean, sign: -1},
    ...(report.systems.filter((system) => !system.people).length > 1
      ? [{name: "systems furthest apart first", value: apart, sign: -1}] : []),
    file,
  ];
}

/** What a page with a part of the images says about that. */
function partNote(report) {
  if (report.images.length === report.total) return [];
  return [element("p", {class: "note"}, `This page holds ${whole(report.images.length)} of the ${images(report.total)}: those `
    + "with the most and the least diverse captions. All figures and pictures above are of all images.")];
}
