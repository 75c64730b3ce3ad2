use crate::Row;
use std::io;

/// Rows with a header line; empty cells are empty fields.
pub(crate) fn write<R: Row>(rows: &[R], sink: impl io::Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(sink);
    writer.write_record(R::columns().iter().map(|column| column.name))?;
    rows.iter().try_for_each(|row| writer.serialize(row))?;
    writer.flush()
}
