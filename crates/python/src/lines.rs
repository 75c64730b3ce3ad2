//! Where in a TOML file its values stand.

use crate::errors::key_path;
use pyo3::{exceptions::PyValueError, prelude::*, types::PyDict};
use scenario::Key;
use std::ops::Range;
use toml_edit::{Document, Item, Table, TableLike, Value};

/// The line, from 1, on which each table, key and element of a list begins, by the way to it.
///
/// A `ValueError` has the line and what is wrong with it.
#[pyfunction]
pub fn toml_lines<'py>(py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let ends = text.match_indices('\n').map(|(at, _)| at).collect();
    let mut lines = Lines { ends, found: Vec::new() };
    let document = Document::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| lines.line(&span));
        PyValueError::new_err((line, error.message().to_owned()))
    })?;
    lines.table(document.as_table(), &[]);
    let dict = PyDict::new(py);
    for (at, line) in lines.found {
        dict.set_item(key_path(py, at)?, line)?;
    }
    Ok(dict)
}

struct Lines {
    /// Where lines end.
    ends: Vec<usize>,
    found: Vec<(Vec<Key>, usize)>,
}

impl Lines {
    fn line(&self, span: &Range<usize>) -> usize {
        1 + self.ends.partition_point(|end| *end < span.start)
    }

    fn note(&mut self, at: &[Key], span: Option<Range<usize>>) {
        if let Some(span) = span {
            self.found.push((at.to_vec(), self.line(&span)));
        }
    }

    fn table(&mut self, table: &dyn TableLike, above: &[Key]) {
        for (name, item) in table.iter() {
            let at = [above, &[Key::Name(name.into())]].concat();
            // Tables that only the names of others mention have no line.
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
                    for (place, table) in tables.iter().enumerate() {
                        let at = [&at[..], &[Key::Place(place)]].concat();
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
                for (place, value) in list.iter().enumerate() {
                    let at = [above, &[Key::Place(place)]].concat();
                    self.note(&at, value.span());
                    self.value(value, &at);
                }
            }
            _ => {}
        }
    }
}
