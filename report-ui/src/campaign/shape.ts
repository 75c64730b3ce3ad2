// Made by report-ui/shapes.py from mptcplab.charts.campaign.shape, which says what it means.
import type { Badge, Definition, Provenance, Table } from "../page/shape";

export interface Axis {
  name: string;
  keys: string[];
  values: string[];
}

export interface Group {
  candidate: number;
  values: (number | null)[];
  planned: number;
  done: number;
  finished: number;
  failed: number;
  command: string;
  against: number | null;
}

export interface Expected {
  candidate: number;
  values: (number | null)[];
}

export interface Summary {
  n: Float64Array;
  mean: Float64Array;
  sigma: Float64Array;
  median: Float64Array;
  median_low: Float64Array;
  median_high: Float64Array;
  minimum: Float64Array;
  whisker_low: Float64Array;
  quartile_low: Float64Array;
  quartile_high: Float64Array;
  whisker_high: Float64Array;
  maximum: Float64Array;
  difference: Float64Array;
  difference_low: Float64Array;
  difference_high: Float64Array;
  effect: Float64Array;
  p_value: Float64Array;
}

export interface Figure {
  id: string;
  name: string;
  unit: string;
  log: boolean;
  definition: Definition;
  summary: Summary;
  run: Uint32Array | Uint16Array;
  value: Float64Array;
}

export interface Runs {
  key_high: Uint32Array | Uint16Array;
  key_low: Uint32Array | Uint16Array;
  group: Uint32Array | Uint16Array;
  seed: Float64Array;
  pair: Uint32Array | Uint16Array;
  finished: Uint32Array | Uint16Array;
  pages: number[];
  kept: boolean;
  command: string;
}

export interface Estimated {
  group: number;
  n: number;
  estimate: number | null;
  low: number | null;
  high: number | null;
  sigma: number | null;
  part: string | null;
  effect: number | null;
  p_value: number | null;
}

export interface Curve {
  group: number;
  n: number;
  samples: number;
  value: Float64Array;
  probability: Float64Array;
  low: Float64Array;
  high: Float64Array;
}

export interface Sides {
  one: number;
  other: number;
  more: number;
  less: number;
  same: number;
}

export interface Chart {
  id: string;
  title: string;
  value: string;
  unit: string;
  note: string;
  definitions: Definition[];
  thinned: string | null;
}

export interface CampaignPage {
  title: string;
  subtitle: string;
  badges: Badge[];
  verdict: string[];
  axes: Axis[];
  candidates: string[];
  paths: string[];
  groups: Group[];
  expected: Expected[];
  figures: Figure[];
  runs: Runs;
  shares: Estimated[];
  gains: Estimated[];
  variation: Estimated[];
  curves: Record<"rtt" | "out_of_order_delay", Curve[]>;
  sides: Sides[];
  charts: Chart[];
  tables: Table[];
  provenance: Provenance;
  level: number;
  schema: number;
  kind: "campaign";
}
