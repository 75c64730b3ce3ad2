use crate::{
    errors::{Error, guarded, unwritten},
    rows::Rows,
    simulate,
    values::dict,
};
use pyo3::{
    exceptions::PyKeyError,
    prelude::*,
    types::{PyCapsule, PyDict},
};
use std::{fs::File, io, path::PathBuf};
use tables::{FFI_ArrowArrayStream, RecordBatch, RecordBatchIterator};

/// The tables of an analysis.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Tables {
    tables: ::tables::Tables,
    /// How the run ended that they are of, where it was simulated.
    outcome: Option<sim::Outcome>,
}

impl From<::tables::Tables> for Tables {
    fn from(tables: ::tables::Tables) -> Self {
        Tables { tables, outcome: None }
    }
}

#[pymethods]
impl Tables {
    /// Names of the tables, in the order of the reference.
    #[classattr]
    const NAMES: &'static [&'static str] = ::tables::Tables::NAMES;

    /// Whether every capture was read to its end.
    #[getter]
    fn complete(&self) -> bool {
        self.tables.complete
    }

    /// A table, as anything that knows Arrow takes it.
    fn table(&self, py: Python<'_>, name: &str) -> PyResult<Table> {
        self.batch(py, name).map(Table)
    }

    /// The rows of a table as dictionaries, one at a time; of one connection, and of some columns, if asked for.
    #[pyo3(signature = (name, *, connection=None, columns=None))]
    fn rows(
        &self,
        py: Python<'_>,
        name: &str,
        connection: Option<u32>,
        columns: Option<Vec<String>>,
    ) -> PyResult<Rows> {
        Rows::new(py, &self.batch(py, name)?, connection, columns.as_deref())
    }

    /// The tables with the rows of one connection only, and the remarks on the captures.
    fn only(&self, connection: u32) -> Tables {
        Tables { tables: only(&self.tables, connection), outcome: self.outcome.clone() }
    }

    /// How the run ended, where it was simulated: whether it `finished` and the `reason`, `virtual_ns`, `packets`, and
    /// `bytes_received` by direction.
    fn outcome<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.outcome.as_ref().map(|outcome| simulate::outcome(py, outcome)).transpose()
    }

    /// The summary tables as one JSON document.
    fn json(&self, py: Python<'_>) -> PyResult<String> {
        let mut text = Vec::new();
        py.detach(|| guarded(|| self.tables.write_json(&mut text).map_err(unwritten)))?;
        Ok(String::from_utf8(text)?)
    }

    /// Writes the same document to standard output, never holding it as a whole.
    fn print_json(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| {
            guarded(|| {
                let mut out = io::BufWriter::with_capacity(1 << 16, io::stdout().lock());
                self.tables.write_json(&mut out).and_then(|()| io::Write::flush(&mut out)).map_err(unwritten)
            })
        })
    }

    /// Writes a table as CSV with a header line.
    fn write_csv(&self, py: Python<'_>, name: &str, path: PathBuf) -> PyResult<()> {
        let write = || self.tables.write_csv(name, io::BufWriter::new(File::create(&path)?));
        py.detach(|| guarded(|| write().map_err(unwritten)))
    }
}

impl Tables {
    /// Those of a simulation.
    pub fn simulated(tables: ::tables::Tables, outcome: sim::Outcome) -> Tables {
        Tables { tables, outcome: Some(outcome) }
    }

    fn batch(&self, py: Python<'_>, name: &str) -> PyResult<RecordBatch> {
        let batch = py.detach(|| guarded(|| Ok(self.tables.batch(name))))?;
        batch.ok_or_else(|| {
            PyKeyError::new_err(format!("no table {name}; there are {}", ::tables::Tables::NAMES.join(", ")))
        })
    }
}

fn only(tables: &::tables::Tables, connection: u32) -> ::tables::Tables {
    macro_rules! keep {
        ($($table:ident),*) => {
            ::tables::Tables {
                complete: tables.complete,
                // What happened on the links belongs to no connection in particular.
                queues: tables.queues.clone(),
                drops: tables.drops.clone(),
                counters: tables.counters.clone(),
                probes: tables.probes.clone(),
                radio: tables.radio.clone(),
                positions: tables.positions.clone(),
                signals: tables.signals.iter().filter(|row| row.connection == Some(connection)).cloned().collect(),
                diagnostics: tables
                    .diagnostics
                    .iter()
                    .filter(|row| row.connection.is_none_or(|number| number == connection))
                    .cloned()
                    .collect(),
                $($table: tables.$table.iter().filter(|row| row.connection == connection).cloned().collect(),)*
            }
        };
    }
    keep!(
        connections,
        transfers,
        subflows,
        flows,
        throughput,
        distributions,
        segments,
        rtt,
        reordering,
        responses,
        window,
        state,
        events,
        findings
    )
}

/// A table that anything that knows Arrow takes: `polars.DataFrame(table)`.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Table(RecordBatch);

#[pymethods]
impl Table {
    fn __len__(&self) -> usize {
        self.0.num_rows()
    }

    /// The Arrow stream, see the Arrow PyCapsule interface.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Producers may ignore the wish for another schema.
        let _ = requested_schema;
        let batches = RecordBatchIterator::new([Ok(self.0.clone())], self.0.schema());
        PyCapsule::new_with_value(py, FFI_ArrowArrayStream::new(Box::new(batches)), c"arrow_array_stream")
    }
}

/// Rows that come from elsewhere as a table: a JSON list of objects, a key per column. Columns that may be empty may be
/// left out; anything else that does not fit is an error that names the row and the column.
#[pyfunction]
pub fn rows(py: Python<'_>, table: &str, rows: &str) -> PyResult<Table> {
    let made = || ::tables::batch(table, rows).map_err(|misfit| Error::new_err(misfit.to_string()));
    py.detach(|| guarded(made)).map(Table)
}

/// What a table holds: its name, what one row stands for, and its columns.
type Description = (&'static str, &'static str, Vec<ColumnDescription>);

/// Name, type, whether cells may be empty, unit, meaning.
type ColumnDescription = (&'static str, &'static str, bool, &'static str, &'static str);

/// What the tables hold, for the reference: per table its name, what a row stands for, and per column its name, type,
/// whether cells may be empty, unit and meaning.
#[pyfunction]
pub fn columns() -> Vec<Description> {
    let columns = |columns: Vec<::tables::Column>| {
        columns.into_iter().map(|c| (c.name, c.kind, c.may_be_empty, c.unit, c.description)).collect()
    };
    ::tables::Tables::columns().into_iter().map(|(name, about, all)| (name, about, columns(all))).collect()
}

/// How the columns are shown that are metrics, in their order: table, column and unit, and what stands beside the column.
#[pyfunction]
pub fn metrics(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let mut found = Vec::new();
    for (table, _, columns) in ::tables::Tables::columns() {
        found.extend(
            columns.into_iter().filter_map(|column| column.metric.clone().map(|metric| (table, column, metric))),
        );
    }
    found.sort_by_key(|(.., metric)| metric.order);
    found.iter().map(|(table, column, metric)| shown(py, table, column, metric)).collect()
}

fn shown<'py>(
    py: Python<'py>,
    table: &str,
    column: &::tables::Column,
    metric: &::tables::Metric,
) -> PyResult<Bound<'py, PyDict>> {
    let word = |value: &dyn std::fmt::Debug| format!("{value:?}").to_lowercase();
    let ::tables::Column { name, unit, kind, description, .. } = column;
    Ok(dict!(py;
        table,
        column: name,
        unit,
        kind,
        meaning: description,
        quantity: metric.name,
        brief: metric.brief,
        better: word(&metric.better),
        logarithmic: metric.logarithmic,
        part: metric.part,
        samples: metric.samples,
        pooled: metric.pooled,
        shown: metric.shown.iter().map(|view| word(view)).collect::<Vec<_>>(),
    ))
}
