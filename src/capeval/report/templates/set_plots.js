// The pictures of whole systems: the plane, F, vocabulary, words by rank, the number of captions.

/** Draws them; what is left out says why. Numbers in `hidden` are systems not to show. */
function showPlots(report, hidden) {
  const given = report.pictures;
  const made = [];
  const place = document.getElementById("plots");
  const add = (title, note, rows, paint) => {
    if (typeof rows === "string") {
      place.append(element("p", {class: "note left-out"}, `${title} is left out: ${rows}.`));
      return;
    }
    const plot = new Plot(title, note, (drawn) => paint(drawn, report, rows, hidden));
    if (paint === paintF) plot.least = MARGIN.top + MARGIN.bottom + 44 * rows.length;
    made.push(plot);
    place.append(plot.figure);
  };
  add("Diversity and accuracy", `Up and right is better.${report.level === null ? "" : ` Crosses are ${levelName(report)} intervals.`}${
    report.curves ? " Dashed lines join places of equal F." : ""}`, given.plane, paintPlane);
  add(`F (β² = ${report.beta2})`, "Diversity and accuracy in one number; more is better.", given.f, paintF);
  add("Vocabulary and diversity", "More distinct words, and captions of an image that differ.", given.vocabulary, paintVocabulary);
  add("Words by rank", "Both axes are logarithmic; a line ends where the vocabulary, or the 5,000th word, does.",
    report.words, paintWords);
  add("Diversity by number of captions", "Of the K most accurate captions of each set; people have all of theirs.",
    given.captions, (...all) => paintCaptions(...all, 3, report.spread));
  add("Accuracy by number of captions", "Of the K most accurate captions of each set; people have all of theirs.",
    given.captions, (...all) => paintCaptions(...all, 4, report.accuracy));
  return made;
}

/** Rows with the numbers of their systems, without the hidden ones. */
function visible(report, rows, hidden) {
  const places = new Map(report.systems.map((system, number) => [`${system.people}`.concat(system.people ? "" : system.name), number]));
  return rows.map((row) => [places.get(`${row[1] === "people"}`.concat(row[1] === "people" ? "" : row[0])), row])
    .filter(([number]) => !hidden.has(number));
}

const known = (values) => values.filter((value) => value !== null);
const figureName = (value, lower, upper) =>
  corpusScore(value) + (lower === null ? "" : ` (${corpusScore(lower)} to ${corpusScore(upper)})`);

function paintPlane(plot, report, all, hidden) {
  const rows = visible(report, all, hidden);
  if (!rows.length) return;
  const x = around(known(rows.flatMap(([, row]) => row.slice(2, 5))), 1.02);
  const y = around(known(rows.flatMap(([, row]) => row.slice(5, 8))));
  plot.axes([`Diversity: ${report.spread} →`, ...x], [`${report.accuracy} →`, ...y], report.curves ? 44 : undefined);
  if (report.curves) equalF(plot, report.beta2, x, y);
  for (const [number, [, , d, dLower, dUpper, a, aLower, aUpper]] of rows) {
    const system = report.systems[number];
    const cross = (x1, y1, x2, y2) => path("cross", [[plot.x.at(x1), plot.y.at(y1)], [plot.x.at(x2), plot.y.at(y2)]], inkOf(system));
    if (dLower !== null) plot.put(cross(dLower, a, dUpper, a), cross(d, aLower, d, aUpper));
    plot.spot(system, plot.x.at(d), plot.y.at(a), `${system.name}: ${report.spread} ${figureName(d, dLower, dUpper)}, `
      + `${report.accuracy} ${figureName(a, aLower, aUpper)}`, 7);
  }
}

/** Lines of equal F = (1 + β²)·d·a / (β²·d + a). */
function equalF(plot, beta2, [left, right], [low, high]) {
  const most = ((1 + beta2) * right * high) / (beta2 * right + high);
  for (const level of linear(0, most, 0, 1, 7).ticks.filter((tick) => tick > 0)) {
    const accuracy = (d) => (beta2 * d * level) / ((1 + beta2) * d - level);
    if ((1 + beta2) * right <= level || accuracy(right) < low || accuracy(right) > high) continue;
    const points = Array.from({length: 200}, (_, step) => left + ((right - left) * (step + 1)) / 200)
      .filter((d) => (1 + beta2) * d > level && accuracy(d) <= high);
    plot.put(path("equal", points.map((d) => [plot.x.at(d), plot.y.at(accuracy(d))]), null),
      label("tick", plot.x.at(right) + 5, plot.y.at(accuracy(right)) + 4, `F ${tickName(level)}`, "start"));
  }
}

function paintF(plot, report, all, hidden) {
  const rows = visible(report, all, hidden);
  const most = Math.max(...known(rows.flatMap(([, row]) => row.slice(2, 5))), 0) * 1.15 || 1;
  const line = Math.min((plot.height - MARGIN.bottom - MARGIN.top) / Math.max(rows.length, 1), 58);
  plot.axes([`F →`, 0, most], ["", 0, 1, () => ({at: () => 0, ticks: []})]);
  rows.forEach(([number, [, , f, lower, upper]], place) => {
    const system = report.systems[number];
    const top = MARGIN.top + place * line;
    const bar = shape("rect", {class: "f-bar", x: plot.x.at(0), y: top + 0.48 * line, height: 0.34 * line,
      width: plot.x.at(f) - plot.x.at(0), fill: inkOf(system)});
    plot.put(markOf(system, MARGIN.left + 9, top + 0.28 * line, 5),
      label("name", MARGIN.left + 20, top + 0.28 * line + 4, `\u2068${shortened(system.name, Math.floor(plot.width / 14))}\u2069  ${corpusScore(f)}`, "start"),
      plot.telling(bar, `${system.name}: F ${figureName(f, lower, upper)}`));
    if (lower !== null) {
      const middle = top + 0.65 * line;
      plot.put(path("whisker", [[plot.x.at(lower), middle], [plot.x.at(upper), middle]], "currentColor"));
    }
  });
}

const shortened = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

function paintVocabulary(plot, report, all, hidden) {
  const rows = visible(report, all, hidden);
  if (!rows.length) return;
  plot.axes([`Diversity: ${report.spread} →`, ...around(known(rows.flatMap(([, row]) => row.slice(4, 7))), 1.02)],
    ["Distinct words →", 0, Math.max(...rows.map(([, row]) => row[2])) * 1.12 || 1]);
  for (const [number, [, , words, captions, d, lower, upper]] of rows) {
    const system = report.systems[number];
    if (lower !== null) {
      plot.put(path("cross", [[plot.x.at(lower), plot.y.at(words)], [plot.x.at(upper), plot.y.at(words)]], inkOf(system)));
    }
    plot.spot(system, plot.x.at(d), plot.y.at(words), `${system.name}: ${whole(words)} distinct words in ${whole(captions)} `
      + `captions, ${report.spread} ${figureName(d, lower, upper)}`, 7);
  }
}

function paintWords(plot, report, all, hidden) {
  const shown = all.map(([words, shares], number) => ({words, shares, number}))
    .filter(({number, words}) => words.length && !hidden.has(number));
  if (!shown.length) return;
  plot.axes(["Rank of the word", 1, Math.max(...shown.map(({words}) => words.length), 2), logarithmic],
    ["In 1,000 words", Math.min(...shown.map(({shares}) => shares.at(-1))) * 0.8,
      Math.max(...shown.map(({shares}) => shares[0])) * 1.2, logarithmic]);
  for (const {words, shares, number} of shown) {
    const system = report.systems[number];
    plot.put(path("curve", shares.map((share, place) => [plot.x.at(place + 1), plot.y.at(share)]), inkOf(system)));
    for (const rank of new Set([1, 3, 10, 30, 100, 300, 1000, 3000, words.length])) {
      if (rank > words.length) continue;
      plot.spot(system, plot.x.at(rank), plot.y.at(shares[rank - 1]),
        `${system.name}: word ${whole(rank)} is “${words[rank - 1]}”, ${tickName(shares[rank - 1])} in 1,000 words`, 4);
    }
  }
}

function paintCaptions(plot, report, all, hidden, column, name) {
  const rows = visible(report, all, hidden);
  if (!rows.length) return;
  const counts = rows.map(([, row]) => row[2]);
  const atCounts = (...ends) => ({...linear(...ends), ticks: [...new Set(counts)]});
  plot.axes(["Captions an image (K)", Math.min(...counts) - 0.5, Math.max(...counts) + 0.5, atCounts],
    [`${name} →`, 0, Math.max(...rows.map(([, row]) => row[column])) * 1.1 || 1]);
  report.systems.forEach((system, number) => {
    const own = rows.filter(([place]) => place === number).map(([, row]) => row);
    plot.put(path("curve", own.map((row) => [plot.x.at(row[2]), plot.y.at(row[column])]), inkOf(system)));
    own.forEach((row) => plot.spot(system, plot.x.at(row[2]), plot.y.at(row[column]),
      `${system.name}, ${row[2]} captions: ${name} ${corpusScore(row[column])}`, 5));
  });
}
