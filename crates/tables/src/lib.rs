//! What a row is. Every table is a struct here; its columns, their units and their descriptions are stated once, and
//! Arrow, CSV, JSON and the reference page are made from that.
//!
//! Tables are tidy: one fact in one place. An empty cell means unknown, never 0. Units stand in the columns' names.

mod cell;
mod csv;
mod given;
mod json;
mod metric;
mod row;
mod rows;

pub use arrow_array;
pub use arrow_array::{RecordBatch, RecordBatchIterator, ffi_stream::FFI_ArrowArrayStream};
pub use arrow_schema;
pub use given::{Misfit, batch};
pub use metric::{Better, Metric, View};
pub use row::{Column, Row};
pub use rows::connections::Connection;
pub use rows::counters::Counter;
pub use rows::diagnostics::Diagnostic;
pub use rows::distributions::Distribution;
pub use rows::drops::Dropped;
pub use rows::events::Event;
pub use rows::findings::Finding;
pub use rows::flows::Flow;
pub use rows::positions::Position;
pub use rows::probes::Probe;
pub use rows::queues::Queue;
pub use rows::radio::Radio;
pub use rows::reordering::Reordering;
pub use rows::responses::Response;
pub use rows::rtt::Rtt;
pub use rows::segments::Segment;
pub use rows::signals::Signal;
pub use rows::state::State;
pub use rows::subflows::Subflow;
pub use rows::throughput::Throughput;
pub use rows::transfers::Transfer;
pub use rows::window::Window;
pub use wire::Direction;

/// Version of the schema. Adding a column keeps it.
pub const SCHEMA: u32 = 1;

macro_rules! tables {
    ($($(#[$doc:meta])* $field:ident: $row:ty,)*) => {
        /// All tables of an analysis.
        #[derive(Clone, Debug, Default)]
        pub struct Tables {
            /// Whether every capture was read to its end.
            pub complete: bool,
            $($(#[$doc])* pub $field: Vec<$row>,)*
        }

        impl Tables {
            /// Names of the tables, in the order of the reference.
            pub const NAMES: &[&str] = &[$(stringify!($field),)*];

            /// Columns of every table, in order.
            pub fn columns() -> Vec<(&'static str, &'static str, Vec<Column>)> {
                vec![$((stringify!($field), <$row>::DESCRIPTION, <$row>::columns()),)*]
            }

            /// A table as one Arrow record batch; none if there is no such table.
            pub fn batch(&self, table: &str) -> Option<RecordBatch> {
                match table {
                    $(stringify!($field) => Some(<$row>::batch(&self.$field)),)*
                    _ => None,
                }
            }

            /// A table as CSV with a header line.
            ///
            /// # Errors
            /// When there is no such table, or when `sink` cannot be written.
            pub fn write_csv(&self, table: &str, sink: impl std::io::Write) -> std::io::Result<()> {
                match table {
                    $(stringify!($field) => csv::write(&self.$field, sink),)*
                    _ => Err(std::io::Error::new(std::io::ErrorKind::NotFound, format!("no table {table}"))),
                }
            }
        }
    };
}

tables! {
    /// One row per connection.
    connections: Connection,
    /// One row per connection and direction.
    transfers: Transfer,
    /// One row per subflow.
    subflows: Subflow,
    /// One row per subflow and direction.
    flows: Flow,
    /// One row per bin, direction and subflow, and for the connection as a whole.
    throughput: Throughput,
    /// One row per bin of a distribution.
    distributions: Distribution,
    /// One row per packet with data.
    segments: Segment,
    /// One row per round-trip time sample.
    rtt: Rtt,
    /// One row per data segment that arrived.
    reordering: Reordering,
    /// One row per request that was answered.
    responses: Response,
    /// One row per change of the data in flight or of the window.
    window: Window,
    /// One row per sample of a sender's state.
    state: State,
    /// One row per sample of a queue on a link.
    queues: Queue,
    /// One row per packet that did not arrive.
    drops: Dropped,
    /// One row per event.
    events: Event,
    /// One row per finding: what went wrong, why, and what it cost.
    findings: Finding,
    /// One row per event that a kernel reported to path managers.
    signals: Signal,
    /// One row per host and counter of its kernel.
    counters: Counter,
    /// One row per probe of a path.
    probes: Probe,
    /// One row per sample of a path's radio.
    radio: Radio,
    /// One row per position of the client.
    positions: Position,
    /// One row per remark that limits trust in the numbers.
    diagnostics: Diagnostic,
}
