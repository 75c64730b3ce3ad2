//! Where in a TOML file its values stand.

use crate::errors::key_path;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use scenario::Key;
use std::ops::Range;
use toml_edit::{Document, Item, Table, TableLike, Value};

/// Where each table, key and element of a list begins, by its key path: so many bytes from the start.
///
/// A `ValueError` has where it is no TOML, and what is wrong there.
#[pyfunction]
pub fn toml_offsets<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let document = Document::parse(text).map_err(|error| {
        let offset = error.span().map_or(0, |span| span.start);
        PyValueError::new_err((offset, error.message().to_owned()))
    })?;
    let mut offsets = Offsets::default();
    offsets.table(document.as_table(), &[]);
    let dict = PyDict::new(py);
    for (key, offset) in offsets.0 {
        dict.set_item(key_path(py, key)?, offset)?;
    }
    Ok(dict)
}

#[derive(Default)]
struct Offsets(Vec<(Vec<Key>, usize)>);

impl Offsets {
    fn note(&mut self, key: &[Key], span: Option<Range<usize>>) {
        self.0.extend(span.map(|span| (key.to_vec(), span.start)));
    }

    fn table(&mut self, table: &dyn TableLike, above: &[Key]) {
        for (name, item) in table.iter() {
            let at = [above, &[Key::Name(name.into())]].concat();
            // Tables that only the names of others mention have no offset.
            let is_headed = |table: &Table| !table.is_implicit() && !table.is_dotted();
            let span = match item {
                Item::Table(table) if is_headed(table) => table.span(),
                Item::Table(table) if !table.is_dotted() => None,
                Item::ArrayOfTables(tables) => tables.get(0).and_then(Table::span),
                _ => table.key(name).and_then(|key| key.span()),
            };
            self.note(&at, span);
            match item {
                Item::Table(table) => self.table(table, &at),
                Item::Value(value) => self.value(value, &at),
                Item::ArrayOfTables(tables) => {
                    for (index, table) in tables.iter().enumerate() {
                        let at = [&at[..], &[Key::Index(index)]].concat();
                        self.note(&at, table.span());
                        self.table(table, &at);
                    }
                }
                Item::None => {}
            }
        }
    }

    fn value(&mut self, value: &Value, above: &[Key]) {
        match value {
            Value::InlineTable(table) => self.table(table, above),
            Value::Array(list) => {
                for (index, value) in list.iter().enumerate() {
                    let at = [above, &[Key::Index(index)]].concat();
                    self.note(&at, value.span());
                    self.value(value, &at);
                }
            }
            _ => {}
        }
    }
}
