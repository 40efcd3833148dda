// A table of images, page by page, whose rows open.

/** Tables say what their `rows`, the `details` below an open one, and `nothing` are; `body` takes them. */
class PagedTable {
  constructor(report, most) {
    this.report = report;
    this.most = most;
    this.open = new Set();
    this.page = 0;
  }

  pager() {
    const turn = (name, to) => element("button", {type: "button", click: () => this.turn(to())}, name);
    this.back = [turn("First", () => 0), turn("Previous", () => this.page - 1)];
    this.forth = [turn("Next", () => this.page + 1), turn("Last", () => this.pages - 1)];
    this.place = element("span", {class: "place"});
    return element("nav", {class: "pager", "aria-label": "Pages of the table"}, ...this.back, this.place, ...this.forth);
  }

  /** Shows the first of the images with these numbers. */
  list(found) {
    this.found = found;
    this.pages = Math.max(Math.ceil(found.length / this.most), 1);
    this.turn(0);
  }

  turn(page) {
    this.page = page;
    const start = page * this.most;
    const shown = this.found.slice(start, start + this.most);
    this.place.textContent = shown.length
      ? `${whole(start + 1)}–${whole(start + shown.length)} of ${whole(this.found.length)}` : "";
    this.back.forEach((button) => { button.disabled = page === 0; });
    this.forth.forEach((button) => { button.disabled = page >= this.pages - 1; });
    this.body.replaceChildren(...(shown.length ? shown.flatMap((number) => this.rows(number)) : [this.nothing()]));
  }

  /** A click anywhere on a row, unless it ended a selection of text. */
  clicked(number, row, button) {
    if (!getSelection().toString()) this.toggle(number, row, button);
  }

  toggle(number, row, button) {
    const opens = !this.open.delete(number);
    if (opens) {
      this.open.add(number);
      row.after(this.details(number));
    } else {
      row.nextSibling.remove();
    }
    button.setAttribute("aria-expanded", String(opens));
  }
}
