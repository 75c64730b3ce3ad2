//! A proxy stood between the ends: known only once all connections are.

use tables::{Connection, Diagnostic, Finding, Tables};

/// What a proxy explains: it asks for no MPTCP at the server, and its own buffer is the window that fills.
const EXPLAINED: [&str; 2] = ["never_began", "receive_window"];

/// Adds the findings of remarks that say so, and takes away what they explain.
pub(crate) fn add(tables: &mut Tables, remarks: &[Diagnostic]) {
    for found in remarks.iter().filter_map(|remark| found(tables, remark)).collect::<Vec<_>>() {
        let halves = halves(tables, found.connection);
        let is_explained = |row: &Finding| halves.contains(&row.connection) && EXPLAINED.contains(&&*row.kind);
        tables.findings.retain(|row| !is_explained(row));
        tables.findings.push(found);
    }
    tables.findings.sort_by_key(|row| row.connection);
}

/// The connections between the same addresses and ports.
fn halves(tables: &Tables, connection: u32) -> Vec<u32> {
    let ends = |row: &Connection| (row.client_address, row.client_port, row.server_address, row.server_port);
    let Some(own) = tables.connections.iter().find(|row| row.connection == connection).map(ends) else {
        return Vec::new();
    };
    tables.connections.iter().filter(|row| ends(row) == own).map(|row| row.connection).collect()
}

fn found(tables: &Tables, remark: &Diagnostic) -> Option<Finding> {
    let connection = tables.connections.iter().find(|row| Some(row.connection) == remark.connection)?;
    let message = if connection.fallback.is_some() {
        "a proxy terminates the connection and opens another one to the server, in plain TCP: MPTCP ends at the proxy"
    } else {
        "a proxy terminates the connection and opens another one to the server: each end sees only its own part"
    };
    Some(Finding {
        connection: connection.connection,
        kind: "split_connection".into(),
        from_s: connection.start_s,
        to_s: connection.start_s + connection.duration_s.unwrap_or(0.0),
        confidence: 0.9,
        message: message.into(),
        evidence: remark.message.to_string(),
        remedy: "measure each part on its own, or avoid the proxy: another port, or a tunnel".into(),
        filter: format!("tcp.port == {} && tcp.port == {}", connection.client_port, connection.server_port),
        ..Finding::default()
    })
}
