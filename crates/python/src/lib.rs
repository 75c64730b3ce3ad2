//! The extension module `mptcplab._core`: captures or scenarios in, tables out. It converts and decides nothing.
//!
//! The interpreter lock is released while packets are read, Ctrl-C is honoured, and a panic (a fault of ours) becomes
//! `mptcplab.InternalError`. Its Python signatures stand in `python/mptcplab/_core.pyi`, which `make lint` checks.

mod analyze;
mod anonymise;
mod application;
mod behind;
mod describe;
mod diagnostics;
mod emulator;
mod errors;
mod offsets;
mod plan;
mod record;
mod rows;
mod simulate;
mod standard_input;
mod tables;
mod values;
mod watch;

use pyo3::prelude::*;

#[pymodule]
mod _core {
    #[pymodule_export]
    use crate::analyze::analyze;
    #[pymodule_export]
    use crate::anonymise::anonymise;
    #[pymodule_export]
    use crate::describe::{elements, eras, forms, policies, queues, remedies, settings, transport_defaults};
    #[pymodule_export]
    use crate::emulator::{Emulator, Namespace, cross_traffic_addresses};
    #[pymodule_export]
    use crate::errors::{CaptureError, Error, InternalError, PlanError};
    #[pymodule_export]
    use crate::offsets::toml_offsets;
    #[pymodule_export]
    use crate::plan::Plan;
    #[pymodule_export]
    use crate::rows::Rows;
    #[pymodule_export]
    use crate::simulate::simulate;
    #[pymodule_export]
    use crate::tables::{Table, Tables, columns, metrics, rows};

    /// Version of mptcplab.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// Version of the tables' schema.
    #[pymodule_export]
    const SCHEMA: u32 = ::tables::SCHEMA;
}
