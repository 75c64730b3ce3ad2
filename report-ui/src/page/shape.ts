// What Python hands to the page; python/mptcplab/report/shape.py holds the same and says what it means.

export type Column = Float64Array | Uint32Array | Uint16Array;

export interface Badge {
  text: string;
  meaning: string;
}

export interface Subflow {
  subflow: number;
  name: string;
}

export type Role = "data" | "total" | "limit" | "retransmission" | "reinjection" | "timeout";

export interface Series {
  name: string;
  kind: "line" | "step" | "points";
  x: Column;
  y: Column;
  role: Role;
  subflow: number | null;
  capture: Column | null;
  record: Column | null;
  until: Column | null;
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
  id: string;
  title: string;
  note: string;
  definitions: Definition[];
  series: Series[];
  value: string | null;
  from_zero: boolean;
  levels: Level[];
  lanes: Lane[];
  thinned: string | null;
}

export interface Moment {
  text: string;
  at_s: number;
  to_s: number | null;
}

export interface RunEvent {
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
  schema: number;
  kind: "run";
  title: string;
  subtitle: string;
  badges: Badge[];
  verdict: string[];
  from_s: number;
  to_s: number;
  captures: string[];
  subflows: Subflow[];
  tables: Table[];
  charts: Chart[];
  moments: Moment[];
  events: RunEvent[];
  provenance: Provenance;
}

export interface StudyPage {
  schema: number;
  kind: "study";
  title: string;
  subtitle: string;
  badges: Badge[];
  verdict: string[];
  tables: Table[];
  provenance: Provenance;
}
