//! The rows nested as people think of them: connections hold transfers and subflows, subflows hold flows.

use crate::{Connection, Diagnostic, Direction, Event, Flow, SCHEMA, Subflow, Tables, Transfer};
use serde::Serialize;
use std::io;

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
        serde_json::to_writer_pretty(&mut sink, &document)?;
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
        }
    }
}

/// The rows of one key, in rows that are ordered by it.
fn of<R>(rows: &[R], key: u32, key_of: impl Fn(&R) -> u32) -> &[R] {
    let start = rows.partition_point(|row| key_of(row) < key);
    let len = rows[start..].partition_point(|row| key_of(row) == key);
    &rows[start..start + len]
}
