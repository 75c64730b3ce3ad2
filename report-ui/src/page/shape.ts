// Made by report-ui/shapes.py from mptcplab.charts.shape, which says what it means.

export interface Badge {
  text: string;
  meaning: string;
}

export interface Subflow {
  subflow: number;
  name: string;
  look: number;
}

export interface Series {
  name: string;
  kind: "line" | "step" | "points";
  x: Float64Array;
  y: Float64Array;
  role: "data" | "total" | "baseline" | "limit" | "retransmission" | "reinjection" | "timeout";
  subflow: number | null;
  look: number | null;
  capture: Uint32Array | Uint16Array | null;
  record: Uint32Array | Uint16Array | null;
  until: Float64Array | null;
}

export interface Level {
  name: string;
  y: number;
}

export interface Lane {
  name: string;
  series: Series[];
}

export interface Definition {
  column: string;
  meaning: string;
}

export interface Chart {
  title: string;
  note: string;
  definitions: Definition[];
  series: Series[];
  value: string | null;
  from_zero: boolean;
  levels: Level[];
  lanes: Lane[];
  thinned: string | null;
  id: string;
}

export interface Track {
  title: string;
  note: string;
  definitions: Definition[];
  line: Series;
  series: Series[];
  graded: boolean;
  id: string;
}

export interface Moment {
  text: string;
  at_s: number;
  to_s: number | null;
  found: boolean;
}

export interface Event {
  at_s: number;
  subflow: number | null;
  event: string;
  text: string;
  grave: boolean;
  capture: number | null;
  record: number | null;
}

export interface Table {
  id: string;
  title: string;
  columns: string[];
  numeric: boolean[];
  rows: string[][];
  meanings: (string | null)[];
}

export interface Fact {
  name: string;
  value: string;
}

export interface Document {
  title: string;
  file: string;
  text: string;
}

export interface Provenance {
  facts: Fact[];
  remarks: string[];
  command: string | null;
  documents: Document[];
}

export interface Page {
  title: string;
  name: string;
  subtitle: string;
  badges: Badge[];
  verdict: string[];
  from_s: number;
  to_s: number;
  captures: string[];
  subflows: Subflow[];
  tables: Table[];
  charts: Chart[];
  tracks: Track[];
  moments: Moment[];
  events: Event[];
  provenance: Provenance;
  parts: string;
  time: string;
  schema: number;
  kind: "run";
}

export interface StudyPage {
  title: string;
  subtitle: string;
  badges: Badge[];
  verdict: string[];
  tables: Table[];
  provenance: Provenance;
  schema: number;
  kind: "study";
}
