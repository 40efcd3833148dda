// Written by write_types.py from the TypedDicts of sacrecap.report; `make lint-js` says if it is stale.

interface ScorePage {
  lead: number;
  unexplained: string;
  metrics: ScoredMetric[];
  images: ScoredImage[];
  photos: (string | null)[] | null;
}

interface ScoredMetric {
  label: string;
  value: number | null;
  lower_is_better: boolean;
  unscored: number;
  median: number | null;
  histogram: Histogram;
  scores: (number | null)[];
}

interface Histogram {
  edges: number[];
  counts: number[];
}

interface ScoredImage {
  id: string;
  candidate: string | null;
  references: string[];
}

interface ComparisonPage {
  lead: number;
  first: number;
  systems: string[];
  metrics: ComparedMetric[];
  pairs: ComparedPair[];
  images: ComparedImage[];
  photos: (string | null)[] | null;
}

interface ComparedMetric {
  label: string;
  scores: ((number | null)[])[];
}

interface ComparedPair {
  a: number;
  b: number;
}

interface ComparedImage {
  id: string;
  candidates: (string | null)[];
  references: string[];
}

interface SetsPage {
  spread: string | null;
  accuracy: string | null;
  systems: SetsSystem[];
  pictures: SetsPicture[];
  drawn: number;
  images: SetsImage[];
  photos: (string | null)[] | null;
}

interface SetsSystem {
  name: string;
  people: boolean;
  colour: string;
  mark: string;
}

interface SetsPicture {
  title: string;
  chart: SetsChart | null;
  left_out: string;
}

interface SetsChart {
  kind: string;
  note: string;
  x: Axis;
  y: Axis | null;
  said: [string, string][];
  beta2: number | null;
  systems: number[];
  fields: Record<string, (number | string | null)[]>;
}

interface Axis {
  field: string;
  label: string;
  better: string;
  scale: "around" | "zero" | "log" | "counts" | "log counts" | "measures" | "places";
  most: number | null;
}

interface SetsImage {
  id: string;
  captions: (string[] | null)[];
  diversity: (number | null)[];
  accuracy: (number | null)[];
  drawn: SetsDrawing | null;
}

interface SetsDrawing {
  similarities: (number[] | null)[];
  topics: (TopicFigure[] | null)[];
  marks: CaptionMark[];
  share: number;
}

interface TopicFigure {
  share: number;
  words: TopicWord[];
  loads: number[];
}

interface TopicWord {
  word: string;
  against: boolean;
}

interface CaptionMark {
  system: number;
  x: number;
  y: number;
  captions: number[];
}

interface AgreementPage {
  pairs: boolean;
  metrics: JudgedMetric[];
  images: string[];
  references: string[][];
  items: JudgedItem[];
  photos: (string | null)[] | null;
}

interface JudgedMetric {
  label: string;
  turned: boolean;
  scores: ((number | null)[])[];
  gaps: (number | null)[];
}

interface JudgedItem {
  image: number;
  references: number;
  candidates: string[];
  systems: string[];
  people: string[];
  mean: number | null;
  category: string;
}
