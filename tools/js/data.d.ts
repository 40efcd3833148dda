// The data that pages of reports carry: what the functions of `sacrecap.report` that end in `_data` give, and `score_page`.

/** An image: a candidate of each system (null if it has none), the references, and the address of its photo. */
interface PageImage {
  id: string;
  candidates: (string | null)[];
  references: string[];
  photo: string | null;
}

/** `scores` are those of the images on the page; null for no score. `unscored` is the number of images without one. */
interface ScoredMetric {
  label: string;
  lower_is_better: boolean;
  unscored: number;
  median: number | null;
  scores: (number | null)[];
}

/**
 * `lead` is the index of the metric that the blocks sort by at first; `unexplained` what an image without figures that
 * explain its scores says, empty if all have them or no metric makes any; `marked` has candidates by their place, in
 * pieces of which a metric marks every other one; null: words are marked that no reference has.
 */
interface ScorePage {
  lead: number;
  unexplained: string;
  marked: Record<number, string[]> | null;
  metrics: ScoredMetric[];
  images: PageImage[];
}

/**
 * `most` is the end of the axes, which begin at 0; `scores` are of the images, system by system; `pairs` are systems by
 * index, in the order of the table of differences.
 */
interface ComparisonPage {
  lead: number;
  systems: string[];
  metrics: {label: string, most: number, scores: (number | null)[][]}[];
  pairs: [number, number][];
  images: PageImage[];
}

/**
 * The captions and the figures of each system; null if people lack them. `similarities` are in percent (the upper
 * triangle, row by row), where the image is drawn.
 */
interface SetsImage {
  id: string;
  captions: (string[] | null)[];
  diversity: (number | null)[];
  accuracy: (number | null)[];
  similarities: (number[] | null)[] | null;
  photo: string | null;
}

interface SetsPage {
  spread: string | null;
  accuracy: string | null;
  systems: {name: string, people: boolean}[];
  drawn: number;
  images: SetsImage[];
}

/**
 * `scores` are of the candidates on the page, column by column. `gaps`: for pairs, the score of the caption that people
 * chose minus the score of the other; for ratings, the caption's place among all captions by the metric (a share from 0
 * to 1) minus its place by people; null for no score. If `turned`, lower scores are better, and have a minus sign.
 */
interface JudgedMetric {
  label: string;
  turned: boolean;
  scores: (number | null)[][];
  gaps: (number | null)[];
}

/**
 * A rated caption, or a pair with the caption that people chose first. `image` and `references` are indices of the
 * page's lists; `people` is what people said of each candidate, `mean` the mean rating; `systems` names who wrote each.
 */
interface JudgedItem {
  image: number;
  references: number;
  candidates: string[];
  systems: string[];
  people: string[];
  mean: number | null;
  category: string;
}

interface AgreementPage {
  pairs: boolean;
  metrics: JudgedMetric[];
  images: {id: string, photo: string | null}[];
  references: string[][];
  items: JudgedItem[];
}
