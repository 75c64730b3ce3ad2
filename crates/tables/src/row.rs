use crate::Metric;
use arrow_array::RecordBatch;

/// A column: what the reference page says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name, with the unit as its ending.
    pub name: &'static str,
    /// Type of its cells.
    pub kind: &'static str,
    /// Whether cells may be empty: unknown.
    pub may_be_empty: bool,
    /// Unit, from the name; empty for names, numbers of things and yes/no.
    pub unit: &'static str,
    /// What it means.
    pub description: &'static str,
    /// How it is shown, where it is a metric.
    pub metric: Option<Metric>,
}

/// A row of a table.
pub trait Row: serde::Serialize + Sized {
    /// What one row stands for.
    const DESCRIPTION: &'static str;

    /// The columns in order.
    fn columns() -> Vec<Column>;

    /// Rows as Arrow.
    fn batch(rows: &[Self]) -> RecordBatch;

    /// The row with text that does no harm to what shows it; none where all of it does none.
    fn harmless(&self) -> Option<Self>;
}

/// The unit that a column's name ends with.
pub(crate) fn unit(name: &str) -> &'static str {
    const ENDINGS: [(&str, &str); 14] = [
        ("_ns", "ns"),
        ("_ms", "ms"),
        ("_s", "s"),
        ("_mbps", "Mbit/s"),
        ("_dbm", "dBm"),
        ("_db", "dB"),
        ("_deg", "°"),
        ("_mps", "m/s"),
        ("_m", "m"),
        ("_percent", "%"),
        ("bytes", "bytes"),
        ("packets", "packets"),
        ("samples", "samples"),
        ("segments", "segments"),
    ];
    // A statistic stands behind the unit: rtt_ms_mean.
    const STATISTICS: [&str; 9] = ["_mean", "_sigma", "_min", "_median", "_p90", "_p95", "_p99", "_max", "_spread"];
    let base = STATISTICS.iter().find_map(|s| name.strip_suffix(s)).unwrap_or(name);
    ENDINGS.iter().find(|(ending, _)| base.ends_with(ending)).map_or("", |(_, unit)| unit)
}

/// Of a column that every capture and every engine fills: it may be empty in rows from files of other tools.
pub(crate) const ELSEWHERE: bool = true;

/// Declares a row: a struct whose documentation is the reference of the table.
macro_rules! row {
    (
        $(#[doc = $about:literal])*
        pub struct $name:ident {
            $(
                $(#[doc = $doc:literal])*
                $(#[metric($metric:expr)])?
                $(#[empty($where:ident)])?
                $field:ident: $kind:ty,
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
        pub struct $name {
            $($(#[doc = $doc])* pub $field: $kind,)*
        }

        impl crate::Row for $name {
            const DESCRIPTION: &'static str = concat!($($about, "\n",)*).trim_ascii();

            fn columns() -> Vec<crate::Column> {
                use crate::cell::Cell;
                vec![$(crate::Column {
                    name: stringify!($field),
                    kind: <$kind>::KIND,
                    may_be_empty: <$kind>::MAY_BE_EMPTY $(|| crate::row::$where)?,
                    unit: crate::row::unit(stringify!($field)),
                    description: concat!($($doc, "\n",)*).trim_ascii(),
                    metric: crate::row::given!($($metric)?),
                },)*]
            }

            fn batch(rows: &[Self]) -> arrow_array::RecordBatch {
                use crate::cell::{Cell, array};
                let columns = vec![$((
                    stringify!($field),
                    array(rows.iter().map(|row| &row.$field)),
                    <$kind>::MAY_BE_EMPTY $(|| crate::row::$where)?,
                ),)*];
                arrow_array::RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
            }

            fn harmless(&self) -> Option<Self> {
                use crate::cell::Cell;
                let mut row = None;
                $(if let Some(cell) = self.$field.harmless() {
                    row.get_or_insert_with(|| self.clone()).$field = cell;
                })*
                row
            }
        }
    };
}
pub(crate) use row;

/// What the declaration of a metric may name.
pub(crate) mod shown {
    pub(crate) use crate::{Better::*, Metric, View::*};
}

macro_rules! given {
    () => {
        None
    };
    ($metric:expr) => {{
        use crate::row::shown::*;
        Some($metric)
    }};
}
pub(crate) use given;
