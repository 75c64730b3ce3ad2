//! What is left out and counted.

use rustc_hash::FxHashMap;
use std::sync::Arc;
use tables::Diagnostic;

/// Packets that belong to no connection any more.
#[derive(Default)]
pub(super) struct Ignored {
    /// They came when theirs had ended and was finished.
    pub(super) late: u64,
    /// SYNs without an answer that have no row.
    pub(super) unanswered: u64,
    /// SYNs that were refused and have no row.
    pub(super) refused: u64,
    /// They show with other addresses what another 4-tuple of the host shows.
    pub(super) copies: u64,
}

/// What is to be said of it, site by site.
pub(super) fn remarks(
    ignored: &FxHashMap<u32, Ignored>,
    capture_of: impl Fn(u32) -> Option<Arc<str>>,
) -> Vec<Diagnostic> {
    let mut sites: Vec<_> = ignored.iter().collect();
    sites.sort_unstable_by_key(|(site, _)| **site);
    let mut remarks = Vec::new();
    for (site, Ignored { late, unanswered, refused, copies }) in sites {
        for (diagnostic, count, message) in [
            (
                "unanswered_syns",
                *unanswered,
                "SYNs that nobody answered are counted here and have no rows: a port scan, or a flood",
            ),
            ("refused_syns", *refused, "SYNs that were refused are counted here and have no rows: a port scan"),
            ("late_packets", *late, "packets came long after their connection had ended, and are left out"),
            (
                "translated_copies",
                *copies,
                "packets show with other addresses what others show: the host translates addresses; they are left out",
            ),
        ] {
            if count > 0 {
                let (capture, count, message) = (capture_of(*site), Some(count), message.into());
                remarks.push(Diagnostic { capture, diagnostic, count, message, ..Diagnostic::default() });
            }
        }
    }
    remarks
}
