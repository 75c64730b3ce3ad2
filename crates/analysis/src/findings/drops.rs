//! Packets that passed and were not captured: known only at the end of a capture, when the connections are finished.

use super::unfit::LEAST_BYTES;
use std::borrow::Cow;
use tables::{Finding, Tables};

/// From this part of all packets on, what was found may be the capture's own.
const LEAST_PERCENT: u64 = 1;
/// No finding of a capture that dropped a few is surer than this.
const SURE: f64 = 0.6;

/// Lowers the confidence of all findings where the captures dropped packets, and has one that says so in place of them where they
/// dropped many.
pub(crate) fn poison(tables: &mut Tables, dropped: u64, captured: u64) {
    if dropped == 0 {
        return;
    }
    if dropped.saturating_mul(100) < LEAST_PERCENT.saturating_mul(dropped.saturating_add(captured)) {
        tables.findings.iter_mut().for_each(|row| row.confidence = row.confidence.min(SURE));
        return;
    }
    tables.findings = tables.connections.iter().filter_map(|connection| unfit(tables, connection, dropped)).collect();
}

fn unfit(tables: &Tables, connection: &tables::Connection, dropped: u64) -> Option<Finding> {
    let own = tables.transfers.iter().filter(|row| row.connection == connection.connection);
    let main = own.max_by_key(|row| row.bytes).filter(|row| row.bytes >= LEAST_BYTES)?;
    Some(Finding {
        connection: connection.connection,
        direction: Some(main.direction),
        kind: Cow::Borrowed("capture_unfit"),
        from_s: connection.start_s,
        to_s: connection.start_s + main.elapsed_s.or(connection.duration_s).unwrap_or(0.0),
        confidence: 0.9,
        message: "the capture cannot show what limited the transfer: it missed packets".into(),
        evidence: format!("whoever captured says that {dropped} packets passed and were not captured"),
        remedy: "capture with a snap length of 128 and a larger buffer: tcpdump -s 128 -B 65536".into(),
        filter: format!("tcp.port == {} && tcp.port == {}", connection.client_port, connection.server_port),
        ..Finding::default()
    })
}

#[cfg(test)]
mod tests {
    use super::{Finding, Tables, poison};
    use tables::{Connection, Transfer};

    fn tables() -> Tables {
        Tables {
            connections: vec![Connection::default()],
            transfers: vec![Transfer { bytes: 1_000_000, elapsed_s: Some(2.0), ..Transfer::default() }],
            findings: vec![Finding { kind: "losses_random".into(), confidence: 0.9, ..Finding::default() }],
            ..Tables::default()
        }
    }

    #[test]
    fn few_dropped_packets_make_findings_less_sure_and_many_replace_them() {
        for (dropped, expected) in
            [(0, ("losses_random", 0.9)), (9, ("losses_random", 0.6)), (11, ("capture_unfit", 0.9))]
        {
            let mut tables = tables();
            poison(&mut tables, dropped, 1000);
            let found: Vec<_> = tables.findings.iter().map(|row| (&*row.kind, row.confidence)).collect();
            assert_eq!(found, [expected], "{dropped}");
        }
    }
}
