use crate::Row;
use std::io;

/// Rows with a header line; empty cells are empty fields, and text does no harm to a spreadsheet.
pub(crate) fn write<R: Row>(rows: &[R], sink: impl io::Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(sink);
    writer.write_record(R::columns().iter().map(|column| column.name))?;
    rows.iter().try_for_each(|row| match row.harmless() {
        Some(row) => writer.serialize(row),
        None => writer.serialize(row),
    })?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use crate::{Diagnostic, State, Subflow, Tables};

    fn cells(tables: &Tables, table: &str, column: &str) -> Vec<String> {
        let mut out = Vec::new();
        tables.write_csv(table, &mut out).unwrap();
        let mut reader = csv::Reader::from_reader(&out[..]);
        let at = reader.headers().unwrap().iter().position(|name| name == column).unwrap();
        reader.records().map(|record| record.unwrap()[at].to_owned()).collect()
    }

    #[test]
    fn text_is_no_formula_and_steers_nothing() {
        let texts =
            ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "wlan0", "a=b", "\u{1b}[2J\u{9b}2J", "\u{202e}x\u{2028}", "", "é-"];
        let wanted = [
            "'=1+1",
            "'+1",
            "'-1",
            "'@SUM(A1)",
            "'\u{fffd}x",
            "wlan0",
            "a=b",
            "\u{fffd}[2J\u{fffd}2J",
            "\u{fffd}x\u{fffd}",
            "",
            "é-",
        ];
        let subflow = |text: &&str| Subflow { path: Some((*text).into()), ..Subflow::default() };
        let subflows = texts.iter().map(subflow).collect();
        let state = |text: &&str| State { congestion_control: Some((*text).into()), ..State::default() };
        let state = texts.iter().map(state).collect();
        let tables = Tables { subflows, state, ..Tables::default() };
        assert_eq!(cells(&tables, "subflows", "path"), wanted);
        assert_eq!(cells(&tables, "state", "congestion_control"), wanted);
    }

    #[test]
    fn numbers_below_zero_stay_numbers() {
        let tables = Tables { diagnostics: vec![Diagnostic::default()], ..Tables::default() };
        assert_eq!(cells(&tables, "diagnostics", "message"), [""]);
        let state = vec![State { at_s: -1.5, ..State::default() }];
        assert_eq!(cells(&Tables { state, ..Tables::default() }, "state", "at_s"), ["-1.5"]);
    }
}
