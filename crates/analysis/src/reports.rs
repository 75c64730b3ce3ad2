//! The rows of all finished connections, as tables.

use crate::report::{Order, Report};
use tables::{Diagnostic, Tables};

/// Finished connections in the order of finishing, their rows already in tables: nothing is kept twice.
#[derive(Default)]
pub(crate) struct Reports {
    tables: Tables,
    order: Vec<Order>,
}

impl Reports {
    /// Takes a finished connection. Subflows are numbered by (first time, 4-tuple).
    pub(crate) fn push(&mut self, mut report: Report) {
        if self.tables.throughput.len() + report.throughput.len() > MOST_ROWS {
            report.leave_out_throughput(report.throughput.len() as u64);
            report.throughput = Vec::new();
        }
        if self.tables.distributions.len() + report.distributions.len() > MOST_ROWS {
            report.leave_out_distributions();
        }
        let number = self.order.len() as u32;
        self.order.push(report.order.expect("made of a connection"));
        report.append(number, &mut self.tables);
    }

    /// Takes a remark that belongs to no connection.
    pub(crate) fn remark(&mut self, diagnostic: Diagnostic) {
        self.tables.diagnostics.push(diagnostic);
    }

    /// Numbers connections by (first time, 4-tuple) and orders all rows by that.
    pub(crate) fn into_tables(self) -> Tables {
        let Reports { mut tables, order } = self;
        let mut by_order: Vec<usize> = (0..order.len()).collect();
        by_order.sort_by_key(|&index| order[index]);
        let mut rank = vec![0; order.len()];
        by_order.iter().enumerate().for_each(|(new, &old)| rank[old] = new as u32);
        let number = |old: u32| rank[old as usize];
        macro_rules! renumber {
            ($($table:ident: $key:expr;)*) => {$(
                tables.$table.iter_mut().for_each(|row| row.connection = number(row.connection));
                if !tables.$table.is_sorted_by_key($key) {
                    tables.$table.sort_by_key($key);
                }
            )*};
        }
        renumber! {
            connections: |row| row.connection;
            transfers: |row| row.connection;
            subflows: |row| row.connection;
            flows: |row| row.connection;
            throughput: |row| row.connection;
            distributions: |row| row.connection;
            segments: |row| row.connection;
            rtt: |row| row.connection;
            reordering: |row| row.connection;
            responses: |row| row.connection;
            window: |row| row.connection;
            events: |row| row.connection;
            findings: |row| row.connection;
        }
        tables.diagnostics.iter_mut().for_each(|row| row.connection = row.connection.map(number));
        tables.diagnostics.sort_by_key(|row| row.connection);
        tables
    }
}

/// Rows of throughput series, and of distributions, of all connections together, beyond which no more are kept.
const MOST_ROWS: usize = 1 << 22;

impl Report {
    /// Puts its rows behind those of other connections, as those of connection `number`.
    fn append(mut self, number: u32, tables: &mut Tables) {
        let mut order: Vec<usize> = (0..self.subflows.len()).collect();
        order.sort_by(|&a, &b| {
            let key =
                |row: &tables::Subflow| (row.client_address, row.client_port, row.server_address, row.server_port);
            let (a, b) = (&self.subflows[a], &self.subflows[b]);
            a.start_s.total_cmp(&b.start_s).then_with(|| key(a).cmp(&key(b)))
        });
        let mut rank = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| rank[old] = new as u32);
        let subflow = |old: u32| rank.get(old as usize).copied().unwrap_or(old);

        self.connection.connection = number;
        tables.connections.push(self.connection);
        tables.transfers.extend(self.transfers.into_iter().map(|mut row| {
            row.connection = number;
            row
        }));
        self.subflows.sort_by_key(|row| subflow(row.subflow));
        self.flows.sort_by_key(|rows| subflow(rows[0].subflow));
        macro_rules! renumbered {
            ($table:ident, $rows:expr, $renumber:expr) => {
                tables.$table.extend($rows.map(|mut row| {
                    row.connection = number.into();
                    row.subflow = $renumber(row.subflow);
                    row
                }))
            };
        }
        let maybe = |old: Option<u32>| old.map(subflow);
        renumbered!(subflows, self.subflows.into_iter(), subflow);
        renumbered!(flows, self.flows.into_iter().flatten(), subflow);
        renumbered!(throughput, self.throughput.into_iter(), maybe);
        renumbered!(distributions, self.distributions.into_iter(), maybe);
        renumbered!(segments, self.segments.into_iter(), subflow);
        renumbered!(rtt, self.rtt.into_iter(), subflow);
        renumbered!(reordering, self.reordering.into_iter(), subflow);
        tables.responses.extend(self.responses.into_iter().map(|mut row| {
            row.connection = number;
            row
        }));
        renumbered!(window, self.window.into_iter(), subflow);
        self.events.sort_by_key(|row| (row.at_ns, maybe(row.subflow)));
        renumbered!(events, self.events.into_iter(), maybe);
        renumbered!(findings, self.findings.into_iter(), maybe);
        renumbered!(diagnostics, self.diagnostics.into_iter(), maybe);
    }
}
