//! Rows of what was analysed, by name.

use tables::{Direction, Event, Flow, Subflow, Tables, Transfer};

/// The only connection.
pub fn only(tables: &Tables) -> &tables::Connection {
    assert_eq!(tables.connections.len(), 1, "one connection: {:#?}", tables.connections);
    &tables.connections[0]
}

/// A direction of the first connection.
pub fn transfer(tables: &Tables, direction: Direction) -> &Transfer {
    transfer_of(tables, 0, direction)
}

pub fn transfer_of(tables: &Tables, connection: u32, direction: Direction) -> &Transfer {
    let found = tables.transfers.iter().find(|row| row.connection == connection && row.direction == direction);
    found.expect("a transfer")
}

/// A subflow of the first connection.
pub fn subflow(tables: &Tables, subflow: u32) -> &Subflow {
    tables.subflows.iter().find(|row| row.connection == 0 && row.subflow == subflow).expect("a subflow")
}

/// A direction of a subflow of the first connection.
pub fn flow(tables: &Tables, subflow: u32, direction: Direction) -> &Flow {
    flow_of(tables, 0, subflow, direction)
}

pub fn flow_of(tables: &Tables, connection: u32, subflow: u32, direction: Direction) -> &Flow {
    let mut of_subflow = tables.flows.iter().filter(|row| row.connection == connection && row.subflow == subflow);
    of_subflow.find(|row| row.direction == direction).expect("a flow")
}

/// Names of the events of all connections, in order.
pub fn events(tables: &Tables) -> Vec<&'static str> {
    tables.events.iter().map(|row| row.event).collect()
}

pub fn event<'a>(tables: &'a Tables, name: &str) -> &'a Event {
    tables.events.iter().find(|row| row.event == name).unwrap_or_else(|| panic!("no {name} in {:?}", events(tables)))
}

pub fn diagnostics(tables: &Tables) -> Vec<&'static str> {
    tables.diagnostics.iter().map(|row| row.diagnostic).collect()
}

/// Within a billionth, for figures that divide.
#[track_caller]
pub fn close(figure: Option<f64>, expected: f64) {
    let figure = figure.expect("a figure");
    assert!((figure - expected).abs() <= expected.abs() * 1e-9, "{figure} is not {expected}");
}
