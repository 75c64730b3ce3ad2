// What Python hands to the page of a campaign; python/mptcplab/report/campaign/shape.py holds the same and says what
// it means.
import type { Badge, Definition, Provenance, Table } from "../page/shape";

export interface Axis {
  name: string;
  keys: string[];
  values: string[];
}

export interface Group {
  contender: number;
  values: (number | null)[];
  planned: number;
  done: number;
  finished: number;
  failed: number;
  command: string;
  against: number | null;
}

export interface Awaited {
  contender: number;
  values: (number | null)[];
}

export type SummaryColumn =
  | "n"
  | "mean"
  | "sigma"
  | "median"
  | "median_low"
  | "median_high"
  | "minimum"
  | "whisker_low"
  | "quartile_low"
  | "quartile_high"
  | "whisker_high"
  | "maximum"
  | "difference"
  | "difference_low"
  | "difference_high"
  | "effect"
  | "p_value";

export interface Figure {
  id: string;
  name: string;
  unit: string;
  log: boolean;
  definition: Definition;
  summary: Record<SummaryColumn, Float64Array>;
  run: Uint32Array;
  value: Float64Array;
}

export interface Runs {
  key_high: Uint32Array;
  key_low: Uint32Array;
  group: Uint32Array;
  seed: Float64Array;
  pair: Uint32Array;
  finished: Uint16Array;
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
  note: string;
  definitions: Definition[];
  thinned: string | null;
}

export interface CampaignPage {
  schema: number;
  kind: "campaign";
  title: string;
  subtitle: string;
  badges: Badge[];
  verdict: string[];
  axes: Axis[];
  contenders: string[];
  paths: string[];
  groups: Group[];
  awaited: Awaited[];
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
}
