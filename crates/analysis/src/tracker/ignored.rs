//! What is left out and counted.

use super::pending::Lone;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tables::Diagnostic;

/// Packets that belong to no connection any more.
#[derive(Default)]
pub(super) struct Ignored {
    /// They came when theirs had ended and was finished.
    pub(super) late: u64,
    /// Flows of which nothing came that have no row, by kind.
    pub(super) lone: [u64; Lone::COUNT],
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
    for (site, Ignored { late, lone, copies }) in sites {
        for (diagnostic, count, message) in [
            (
                "unanswered_syns",
                lone[Lone::Unanswered as usize],
                "SYNs that nobody answered are counted here and have no rows: a port scan, or a flood",
            ),
            (
                "refused_syns",
                lone[Lone::Refused as usize],
                "SYNs that were refused are counted here and have no rows: a port scan",
            ),
            (
                "lone_syn_acks",
                lone[Lone::Unasked as usize],
                "SYN/ACKs that nothing followed are counted here and have no rows: what a flood from forged addresses scatters",
            ),
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
