// Written by write_types.py from the TypedDicts of sacrecap.report; `make lint-js` says if it is stale.

interface ScorePage {
  version: string;
  tokenizer: string;
  level: number | null;
  method: string;
  notes: string[];
  total: number;
  photos: PagePhotos | null;
  references: [number, number];
  extremes: number | null;
  seed: number;
  lead: number;
  explained: number | null;
  metrics: ScoredMetric[];
  images: ScoredImage[];
}

interface PagePhotos {
  addresses: (string | null)[];
  notes: string[];
}

interface ScoredMetric {
  key: string;
  label: string;
  summary: string;
  signature: string;
  value: number | null;
  interval: [number, number] | null;
  upper: number | null;
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
  alignment: LinksFigure | null;
  plan: LinksFigure | null;
  graph: GraphFigure | null;
  mentions: MentionsFigure | null;
}

interface LinksFigure {
  above: LinkedRow;
  below: LinkedRow;
  links: WordLink[];
  number: number | null;
  distance: number | null;
}

interface LinkedRow {
  words: string[];
  weights: number[][];
}

interface WordLink {
  kind: string;
  above: [number, number];
  below: [number, number];
  moved: [number, number] | null;
}

interface GraphFigure {
  candidate: GraphPicture;
  references: GraphPicture;
  precision: number;
  recall: number;
  score: number;
}

interface GraphPicture {
  width: number;
  height: number;
  parts: GraphPart[];
}

interface GraphPart {
  kind: string;
  rule: string;
  path: string;
  text: string;
  x: number;
  y: number;
  width: number;
  title: string | null;
}

interface MentionsFigure {
  sentences: MentionPiece[][];
  missed: string[];
  hallucinated: number;
  mentions: number;
}

interface MentionPiece {
  text: string;
  object: string | null;
  there: boolean;
}

interface ComparisonPage {
  version: string;
  tokenizer: string;
  level: number | null;
  method: string;
  notes: string[];
  total: number;
  photos: PagePhotos | null;
  references: [number, number];
  test: string;
  alpha: number;
  extremes: number | null;
  seed: number;
  lead: number;
  first: number;
  systems: string[];
  metrics: ComparedMetric[];
  pairs: ComparedPair[];
  images: ComparedImage[];
}

interface ComparedMetric {
  label: string;
  summary: string;
  signature: string;
  systems: ComparedScore[];
  scores: ((number | null)[])[];
}

interface ComparedScore {
  value: number | null;
  interval: [number, number] | null;
  ranks: [number, number];
  best: boolean;
  worse: boolean;
}

interface ComparedPair {
  a: number;
  b: number;
  metrics: ComparedDifference[];
}

interface ComparedDifference {
  delta: number | null;
  interval: [number, number] | null;
  p: number;
  corrected: number;
  significant: boolean;
}

interface ComparedImage {
  id: string;
  candidates: (string | null)[];
  references: string[];
}

interface SetsPage {
  version: string;
  tokenizer: string;
  level: number | null;
  method: string;
  notes: string[];
  total: number;
  photos: PagePhotos | null;
  beta2: number;
  sampled: boolean;
  spread: string | null;
  accuracy: string | null;
  systems: SetsSystem[];
  figures: SetsFigure[];
  pairs: SetsPair[];
  pictures: SetsPicture[];
  drawn: number;
  images: SetsImage[];
}

interface SetsSystem {
  name: string;
  people: boolean;
  colour: string;
  mark: string;
  count: string;
  vocabulary: number;
  notes: string[];
}

interface SetsFigure {
  key: string;
  label: string;
  lower: boolean;
  values: (SetsValue | null)[];
  signatures: string[];
}

interface SetsValue {
  value: number;
  interval: [number, number] | null;
}

interface SetsPair {
  a: string;
  b: string;
  metric: string;
  delta: number;
  interval: [number, number] | null;
  p_corrected: number;
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
  scale: "around" | "zero" | "log" | "counts" | "measures" | "places";
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
  version: string;
  dataset: string;
  pairs: boolean;
  level: number | null;
  total: number;
  pictured: number;
  documents: string;
  count: number | null;
  extremes: number | null;
  seed: number;
  heads: string[];
  table: string[][];
  notes: string[];
  metrics: JudgedMetric[];
  images: string[];
  references: string[][];
  items: JudgedItem[];
  photos: PagePhotos | null;
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
