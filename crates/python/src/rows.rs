use pyo3::{IntoPyObjectExt, prelude::*, types::PyDict};
use std::ops::Range;
use tables::{
    RecordBatch,
    arrow_array::{Array, ArrayRef, cast::AsArray, types},
};

/// Rows as dictionaries, made one at a time.
#[pyclass(frozen, module = "mptcplab._core")]
pub struct Rows {
    columns: Vec<(Py<pyo3::types::PyString>, ArrayRef)>,
    next: std::sync::Mutex<Range<usize>>,
}

impl Rows {
    /// The rows of `connection` (all if none) with the columns called for (all if none).
    pub fn new(
        py: Python<'_>,
        batch: &RecordBatch,
        connection: Option<u32>,
        wanted: Option<&[String]>,
    ) -> PyResult<Self> {
        let rows = match connection {
            None => 0..batch.num_rows(),
            Some(number) => rows_of(batch, number),
        };
        let schema = batch.schema();
        let names: Vec<&str> = match wanted {
            Some(wanted) => wanted.iter().map(String::as_str).collect(),
            None => schema.fields().iter().map(|field| field.name().as_str()).collect(),
        };
        let columns = names.into_iter().map(|name| {
            let column = batch.column_by_name(name);
            let column = column.ok_or_else(|| pyo3::exceptions::PyKeyError::new_err(format!("no column {name}")))?;
            Ok((pyo3::types::PyString::intern(py, name).unbind(), column.clone()))
        });
        Ok(Rows { columns: columns.collect::<PyResult<_>>()?, next: rows.into() })
    }
}

#[pymethods]
impl Rows {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(row) = self.next.lock().expect("nothing panics while it holds the lock").next() else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        for (name, column) in &self.columns {
            dict.set_item(name, cell(py, column, row)?)?;
        }
        Ok(Some(dict))
    }
}

/// Where a connection's rows stand. Rows are ordered by connection, save those about none (diagnostics).
fn rows_of(batch: &RecordBatch, connection: u32) -> Range<usize> {
    let Some(column) = batch.column_by_name("connection") else { return 0..0 };
    let column = column.as_primitive::<types::UInt32Type>();
    let is = |row: &usize| column.is_valid(*row) && column.value(*row) == connection;
    let start = (0..column.len()).find(is).unwrap_or(column.len());
    start..(start..column.len()).find(|row| !is(row)).unwrap_or(column.len())
}

fn cell<'py>(py: Python<'py>, column: &ArrayRef, row: usize) -> PyResult<Bound<'py, PyAny>> {
    use tables::arrow_schema::DataType;
    if column.is_null(row) {
        return Ok(py.None().into_bound(py));
    }
    match column.data_type() {
        DataType::Boolean => column.as_boolean().value(row).into_bound_py_any(py),
        DataType::UInt32 => column.as_primitive::<types::UInt32Type>().value(row).into_bound_py_any(py),
        DataType::UInt64 => column.as_primitive::<types::UInt64Type>().value(row).into_bound_py_any(py),
        DataType::Int64 => column.as_primitive::<types::Int64Type>().value(row).into_bound_py_any(py),
        DataType::Float64 => column.as_primitive::<types::Float64Type>().value(row).into_bound_py_any(py),
        DataType::Utf8 => column.as_string::<i32>().value(row).into_bound_py_any(py),
        other => unreachable!("tables have no column of type {other}"),
    }
}
