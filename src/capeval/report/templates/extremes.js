// The best and the worst images by a metric, as cards side by side.

const CARDS = 4;

function showExtremes(report) {
  const select = document.getElementById("extremes-metric");
  select.append(...report.metrics.map((metric, number) => element("option", {value: number}, metric.label)));
  select.value = report.lead;
  let count = CARDS;
  const draw = () => {
    drawExtremes(report, report.metrics[select.value], count, () => { count += CARDS; draw(); });
  };
  select.addEventListener("change", () => { count = CARDS; draw(); });
  draw();
}

function drawExtremes(report, metric, count, more) {
  const order = byScore(metric);
  // No image is in both lists, however few there are.
  const best = order.slice(0, Math.min(count, Math.ceil(order.length / 2)));
  const worst = order.slice(best.length).slice(-count).reverse();
  const remain = best.length + worst.length < order.length;
  document.getElementById("extremes").replaceChildren(
    element("div", {class: "columns"},
      column("Best", best, report, metric),
      column("Worst", worst, report, metric)),
    ...(remain ? [element("button", {type: "button", class: "more", click: more}, "Show more")] : []));
}

/** Numbers of the images, best first; equal scores in the corpus's order. */
function byScore(metric) {
  const sign = metric.lower_is_better ? -1 : 1;
  return metric.scores.map((_, number) => number).sort((a, b) => sign * (metric.scores[b] - metric.scores[a]));
}

function column(name, numbers, report, metric) {
  const cards = numbers.map((number) => card(report, number, metric));
  return element("div", {class: name.toLowerCase()}, element("h3", {}, name), ...cards);
}

function card(report, number, metric) {
  const image = report.images[number];
  return element("article", {class: "card"},
    element("h4", {}, element("span", {class: "id"}, image.id),
      element("span", {class: "value"}, imageScore(metric.scores[number]))),
    markedCandidate(image), referenceList(image), scoreList(report, number, metric));
}
