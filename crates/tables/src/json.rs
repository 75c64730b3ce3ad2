//! The rows nested as people think of them: connections hold transfers and subflows, subflows hold flows.

use crate::cell::steers;
use crate::{Connection, Diagnostic, Direction, Event, Finding, Flow, SCHEMA, Subflow, Tables, Transfer};
use serde::Serialize;
use std::io;

/// Writes JSON, characters that steer a terminal as their escapes: they stand in strings alone, where that says the same.
struct Escaped<W>(W);

impl<W: io::Write> io::Write for Escaped<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // What serde_json writes at once is whole characters.
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        for part in text.split_inclusive(is_raw) {
            match part.char_indices().next_back().filter(|(_, last)| is_raw(*last)) {
                Some((at, last)) => write!(self.0, "{}\\u{:04x}", &part[..at], u32::from(last))?,
                None => self.0.write_all(part.as_bytes())?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// JSON escapes those of ASCII, but for DEL, by itself.
fn is_raw(sign: char) -> bool {
    !matches!(sign, '\0'..='\x1f') && steers(sign)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    complete: bool,
    connections: Vec<ConnectionNode<'a>>,
    diagnostics: &'a [Diagnostic],
}

#[derive(Serialize)]
struct ConnectionNode<'a> {
    #[serde(flatten)]
    row: &'a Connection,
    transfers: Both<&'a Transfer>,
    subflows: Vec<SubflowNode<'a>>,
    events: &'a [Event],
    findings: &'a [Finding],
}

#[derive(Serialize)]
struct SubflowNode<'a> {
    #[serde(flatten)]
    row: &'a Subflow,
    flows: Both<&'a Flow>,
}

#[derive(Serialize)]
struct Both<T> {
    up: Option<T>,
    down: Option<T>,
}

impl<T: Copy> Both<T> {
    fn of(rows: impl Iterator<Item = T> + Clone, direction: impl Fn(T) -> Direction) -> Self {
        let find = |wanted| rows.clone().find(|row| direction(*row) == wanted);
        Both { up: find(Direction::Up), down: find(Direction::Down) }
    }
}

impl Tables {
    /// The summary tables as one JSON document. Rows must be ordered by connection, and within it by subflow.
    ///
    /// # Errors
    /// When `sink` cannot be written.
    pub fn write_json(&self, mut sink: impl io::Write) -> io::Result<()> {
        let document = Document {
            schema: SCHEMA,
            complete: self.complete,
            connections: self.connections.iter().map(|row| self.node(row)).collect(),
            diagnostics: &self.diagnostics,
        };
        serde_json::to_writer_pretty(Escaped(&mut sink), &document)?;
        sink.write_all(b"\n")
    }

    fn node<'a>(&'a self, row: &'a Connection) -> ConnectionNode<'a> {
        let number = row.connection;
        let transfers = of(&self.transfers, number, |row| row.connection);
        let flows = of(&self.flows, number, |row| row.connection);
        ConnectionNode {
            row,
            transfers: Both::of(transfers.iter(), |row| row.direction),
            subflows: of(&self.subflows, number, |row| row.connection)
                .iter()
                .map(|row| SubflowNode {
                    row,
                    flows: Both::of(of(flows, row.subflow, |flow| flow.subflow).iter(), |flow| flow.direction),
                })
                .collect(),
            events: of(&self.events, number, |row| row.connection),
            findings: of(&self.findings, number, |row| row.connection),
        }
    }
}

/// The rows of one key, in rows that are ordered by it.
fn of<R>(rows: &[R], key: u32, key_of: impl Fn(&R) -> u32) -> &[R] {
    let start = rows.partition_point(|row| key_of(row) < key);
    let len = rows[start..].partition_point(|row| key_of(row) == key);
    &rows[start..start + len]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_steers_no_terminal_and_says_the_same() {
        let path = "wl\u{1b}[2J\u{7f}\u{9b}2Jé\u{202e}\u{2028}\u{1f600}\u{2066}";
        let subflows = vec![Subflow { path: Some(path.into()), ..Subflow::default() }];
        let tables = Tables { connections: vec![Connection::default()], subflows, ..Tables::default() };
        let mut out = Vec::new();
        tables.write_json(&mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains(r"\u001b[2J\u007f\u009b2Jé\u202e\u2028"), "{text}");
        assert!(!text.contains(|sign| sign != '\n' && steers(sign)));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(document["connections"][0]["subflows"][0]["path"], path);
    }
}
