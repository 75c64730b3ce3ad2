//! Mahimahi's traces: one line, one millisecond at which 1500 bytes may leave; after the last it begins again.

/// Why a text is no trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// A line holds something else.
    #[error("line {line}: `{text}` is not a whole number of milliseconds")]
    Line {
        /// The line, from 1.
        line: usize,
        /// What it holds.
        text: String,
    },
    /// Time runs backwards.
    #[error("entry {entry}: {ms} ms is before the {before} ms of the previous entry")]
    Order {
        /// The entry, from 1.
        entry: usize,
        /// Its time.
        ms: u64,
        /// The time before it.
        before: u64,
    },
    /// Nothing, or nothing after the time 0.
    #[error("a trace needs an entry after 0 ms, where it begins again")]
    Empty,
    /// Longer than can be reckoned with.
    #[error("entry {entry}: {ms} ms is more than a year")]
    Long {
        /// The entry, from 1.
        entry: usize,
        /// Its time.
        ms: u64,
    },
}

/// Longest trace in milliseconds.
const MAX_MS: u64 = 366 * 86_400_000;

/// Reads a trace from the text of its file: milliseconds, one to a line. Empty lines do not count.
///
/// # Errors
/// [`TraceError`] with the line that holds no number, or the entry that is out of order.
pub fn parse_trace(text: &str) -> Result<Vec<u64>, TraceError> {
    let lines = text.lines().map(str::trim).enumerate().filter(|(_, text)| !text.is_empty());
    let times: Result<Vec<u64>, _> = lines
        .map(|(index, text)| {
            text.parse().map_err(|_| TraceError::Line { line: index + 1, text: text.chars().take(40).collect() })
        })
        .collect();
    let times = times?;
    check(&times)?;
    Ok(times)
}

/// Whether these are the times of a trace.
pub(crate) fn check(times: &[u64]) -> Result<(), TraceError> {
    for (index, pair) in times.windows(2).enumerate() {
        if pair[1] < pair[0] {
            return Err(TraceError::Order { entry: index + 2, ms: pair[1], before: pair[0] });
        }
    }
    match times.last() {
        None | Some(0) => Err(TraceError::Empty),
        Some(&ms) if ms > MAX_MS => Err(TraceError::Long { entry: times.len(), ms }),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_line() {
        let message = |text| parse_trace(text).unwrap_err().to_string();
        assert_eq!(message("1\n\n2x\n"), "line 3: `2x` is not a whole number of milliseconds");
        assert_eq!(message("-1\n"), "line 1: `-1` is not a whole number of milliseconds");
        assert_eq!(message("5\n4\n"), "entry 2: 4 ms is before the 5 ms of the previous entry");
        assert_eq!(message("0\n0\n"), "a trace needs an entry after 0 ms, where it begins again");
        assert_eq!(message(""), message("0"));
        assert_eq!(message("99999999999"), "entry 1: 99999999999 ms is more than a year");
        assert_eq!(parse_trace("0\n1\r\n 1 \n\n7"), Ok(vec![0, 1, 1, 7]));
    }
}
