//! Rows that come from elsewhere, as JSON, held to a table's columns.

use crate::{Column, Tables};
use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, UInt32Array, UInt64Array,
};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What is wrong with rows, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit(String);

impl std::fmt::Display for Misfit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Misfit {}

type Given = Map<String, Value>;

/// Makes a JSON list of rows (objects) the table of that name. A column that may be empty may be left out.
///
/// # Errors
/// [`Misfit`] names the row (from 1) and the column: unknown, left out, or of another type; or it says that there is no
/// such table, or that it is no list of rows.
pub fn batch(table: &str, json: &str) -> Result<RecordBatch, Misfit> {
    let all = Tables::columns();
    let Some((_, _, columns)) = all.iter().find(|(name, ..)| *name == table) else {
        return Err(Misfit(format!("no table {table}; there are {}", Tables::NAMES.join(", "))));
    };
    let rows: Vec<Given> =
        serde_json::from_str(json).map_err(|error| Misfit(format!("{table}: not a list of rows: {error}")))?;
    for (row, given) in rows.iter().enumerate() {
        if let Some(unknown) = given.keys().find(|key| columns.iter().all(|column| column.name != *key)) {
            return Err(misfit(table, row, unknown, "there is no such column"));
        }
    }
    let arrays = columns.iter().map(|column| Ok((column.name, array(table, column, &rows)?, column.may_be_empty)));
    let arrays = arrays.collect::<Result<Vec<_>, Misfit>>()?;
    Ok(RecordBatch::try_from_iter_with_nullable(arrays).expect("columns of one length"))
}

fn array(table: &str, column: &Column, rows: &[Given]) -> Result<ArrayRef, Misfit> {
    macro_rules! cells {
        ($array:ty, $cell:expr) => {
            Arc::new(cells(table, column, rows, $cell)?.into_iter().collect::<$array>())
        };
    }
    Ok(match column.kind {
        "bool" => cells!(BooleanArray, Value::as_bool),
        "u32" => cells!(UInt32Array, |cell| cell.as_u64().and_then(|cell| u32::try_from(cell).ok())),
        "u64" => cells!(UInt64Array, Value::as_u64),
        "i64" => cells!(Int64Array, Value::as_i64),
        "f64" => cells!(Float64Array, Value::as_f64),
        "text" => cells!(StringArray, Value::as_str),
        other => unreachable!("tables have no column of type {other}"),
    })
}

fn cells<'a, C>(
    table: &str,
    column: &Column,
    rows: &'a [Given],
    read: impl Fn(&'a Value) -> Option<C>,
) -> Result<Vec<Option<C>>, Misfit> {
    let cell = |(row, given): (usize, &'a Given)| match given.get(column.name) {
        None | Some(Value::Null) if column.may_be_empty => Ok(None),
        None | Some(Value::Null) => Err(misfit(table, row, column.name, "must not be empty")),
        Some(cell) => match read(cell) {
            Some(cell) => Ok(Some(cell)),
            None => Err(misfit(table, row, column.name, &format!("{cell} is not of type {}", column.kind))),
        },
    };
    rows.iter().enumerate().map(cell).collect()
}

fn misfit(table: &str, row: usize, column: &str, fault: &str) -> Misfit {
    Misfit(format!("{table}, row {}, column {column}: {fault}", row + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counter, Diagnostic, Row, Signal};

    #[test]
    fn given_rows_are_the_rows_that_were_meant() {
        let counter = Counter { host: "client".into(), counter: "TcpInSegs".into(), before: -1, after: 2 };
        let json = r#"[{"host": "client", "counter": "TcpInSegs", "before": -1, "after": 2}]"#;
        assert_eq!(batch("counters", json), Ok(Counter::batch(&[counter])));
        let diagnostic = Diagnostic { diagnostic: "x", count: Some(1 << 60), ..Diagnostic::default() };
        let json = format!(r#"[{{"diagnostic": "x", "count": {}, "message": "", "capture": null}}]"#, 1_u64 << 60);
        assert_eq!(batch("diagnostics", &json), Ok(Diagnostic::batch(&[diagnostic])));
        assert_eq!(batch("signals", "[]"), Ok(Signal::batch(&[])));
    }

    #[test]
    fn every_table_can_be_given() {
        for (table, _, columns) in Tables::columns() {
            let empty = Tables::default().batch(table);
            assert_eq!(batch(table, "[]").ok(), empty, "{table}");
            let value = |column: &Column| match column.kind {
                "text" => "\"\"",
                "bool" => "true",
                _ => "1",
            };
            let cells: Vec<String> =
                columns.iter().map(|column| format!("\"{}\": {}", column.name, value(column))).collect();
            let full = batch(table, &format!("[{{{}}}]", cells.join(", "))).expect("a full row");
            assert_eq!(Some(full.schema()), empty.map(|batch| batch.schema()), "{table}");
        }
    }

    #[test]
    fn faults_name_the_row_and_the_column() {
        let row = |more: &str| {
            let row = r#""host": "client", "before": 1, "after": 2"#;
            format!(r#"[{{{row}, "counter": "a"}}, {{{row}{more}}}]"#)
        };
        let fault = |more| batch("counters", &row(more)).expect_err(more).to_string();
        assert_eq!(fault(""), "counters, row 2, column counter: must not be empty");
        assert_eq!(fault(r#", "counter": null"#), "counters, row 2, column counter: must not be empty");
        assert_eq!(fault(r#", "counter": 5"#), "counters, row 2, column counter: 5 is not of type text");
        assert_eq!(fault(r#", "count": 5"#), "counters, row 2, column count: there is no such column");
        let wide = r#"[{"host": "a", "at_ns": 0, "at_s": 0, "signal": "b", "token": 4294967296}]"#;
        let fault = batch("signals", wide).expect_err("33 bits").to_string();
        assert_eq!(fault, "signals, row 1, column token: 4294967296 is not of type u32");
        assert!(batch("signal", "[]").expect_err("another name").to_string().starts_with("no table signal; there are"));
        assert!(batch("signals", "{}").expect_err("no list").to_string().starts_with("signals: not a list of rows"));
    }
}
