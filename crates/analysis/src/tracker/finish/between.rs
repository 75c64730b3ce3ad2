//! What the captures of both ends show of the way between them: what left one is compared with what came to the other.

use super::ends::JudgedEnd;
use crate::tracker::connection::Connection;
use crate::tracker::subflow::{Subflow, View};
use std::borrow::Cow;
use tables::{Diagnostic, Direction};

/// So many segments of one size that never arrive are no coincidence.
const NEVER: u32 = 3;
/// Windows that arrive are smaller than this part of those that left: what the last of them said may be lost.
const CLAMPED: u64 = 2;

impl Connection {
    /// Remarks on middleboxes that changed what passed on each subflow, where both ends saw it.
    pub(super) fn boxes_between(&self, ends: &[Option<JudgedEnd>; 2]) -> Vec<Diagnostic> {
        let mut remarks = Vec::new();
        let at = |sends| (0..2).find(|&end: &usize| ends[end].is_some_and(|judged| judged.sends == Some(sends)));
        let (Some(client), Some(server)) = (at(Direction::Up), at(Direction::Down)) else { return remarks };
        for (index, subflow) in self.subflows.iter().enumerate() {
            let (Some(near), Some(far)) = (&subflow.views[client], &subflow.views[server]) else { continue };
            for (diagnostic, count, message) in found(subflow, near, far) {
                remarks.push(Diagnostic {
                    subflow: Some(index as u32),
                    diagnostic,
                    count,
                    message,
                    ..Diagnostic::default()
                });
            }
        }
        remarks
    }
}

type Remark = (&'static str, Option<u64>, Cow<'static, str>);

/// What the views of the client and of the server say of each other.
fn found(subflow: &Subflow, client: &View, server: &View) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    if client.addresses != server.addresses {
        let message = "addresses or ports at the server differ from those at the client: a NAT is between them";
        remarks.push(("address_translated", None, message.into()));
    }
    let known = Direction::BOTH.map(|data| {
        let (sender, receiver) = ends_of(data, client, server);
        let (left, came) = (&sender.sequences[data as usize], &receiver.sequences[data as usize]);
        (left, came, sender.merged[data as usize])
    });
    if known.iter().any(|(left, came, _)| left.from_syn && came.from_syn && left.base() != came.base()) {
        let message = "sequence numbers differ at the other end: a middlebox rewrites them, which does not affect MPTCP, since it counts from the SYN";
        remarks.push(("sequence_rewritten", None, message.into()));
    }
    let opener = subflow.opener as usize;
    let missing = |direction: usize| {
        let (from, to) = if direction == Direction::Up as usize { (client, server) } else { (server, client) };
        from.offers[direction] == Some(true) && to.offers[direction] == Some(false)
    };
    if missing(opener) || missing(1 - opener) {
        let message = if missing(opener) {
            "the SYN left with an MPTCP option and arrived without it: a middlebox removes it"
        } else {
            "the SYN/ACK left with an MPTCP option and arrived without it: a middlebox removes it"
        };
        remarks.push(("options_stripped", None, message.into()));
    }
    // What a receiver announces travels the other way than its data.
    for (left, came, _) in &known {
        if let (Some(arrived), Some(announced)) = (left.mss_bytes, came.mss_bytes)
            && arrived < announced
        {
            let message = format!(
                "the maximum segment size in a SYN was sent as {announced} bytes and arrived as {arrived}: a middlebox clamps it"
            );
            remarks.push(("mss_clamped", Some(arrived.into()), message.into()));
        }
        // Announcements that nothing followed may be lost, all of them.
        let acked = left.acked().filter(|_| left.from_syn && came.from_syn);
        let announced = acked.map_or(0, |acked| came.windows.widest_bytes_before(acked));
        let arrived = left.windows.widest_bytes();
        if arrived > 0 && arrived < announced / CLAMPED {
            let message = format!(
                "receive windows of up to {announced} bytes were sent, but none above {arrived} bytes arrived: a middlebox clamps them"
            );
            remarks.push(("window_clamped", Some(arrived), message.into()));
        }
    }
    for (left, came, merged) in known {
        let (sent, arrived) = (left.sizes, came.sizes);
        let unanswered = left.acked().is_none_or(|acked| acked <= 0);
        if unanswered && came.skips_data() && sent.of_largest_whole >= NEVER {
            let message = format!(
                "segments with {} bytes of payload were sent, and none with payload arrived, although packets without it did: the \
                 path does not pass larger packets",
                sent.largest_whole
            );
            remarks.push(("large_segments_lost", Some(0), message.into()));
        }
        // How many packets merged segments left as is known where they are not cut further.
        if sent.packets == 0 || arrived.packets == 0 || merged && arrived.packets > sent.packets {
            continue;
        }
        // Of what the sender's offloads merged nobody knows how large it left; of the rest it is known.
        let (left, largest) = (sent.largest_whole, arrived.largest);
        if largest > left && !merged {
            let message = format!(
                "segments arrived with up to {largest} bytes of payload, but were sent with at most {left}: a middlebox, or an \
                 offload of the receiving host, joins them"
            );
            remarks.push(("segments_joined", Some(largest.into()), message.into()));
        } else if largest < left && arrived.packets > sent.packets {
            let message = format!(
                "more segments arrived than were sent, with up to {largest} bytes of payload instead of {left}: a middlebox, or an \
                 offload of the sending host, splits them"
            );
            remarks.push(("segments_split", Some(largest.into()), message.into()));
        } else if largest < left && sent.of_largest_whole >= NEVER {
            let message = format!(
                "segments with {left} bytes of payload were sent, but none with more than {largest} arrived: the path does not pass \
                 larger packets"
            );
            remarks.push(("large_segments_lost", Some(largest.into()), message.into()));
        }
    }
    remarks
}

/// The ends that send and receive the data of a direction.
fn ends_of<'a>(data: Direction, client: &'a View, server: &'a View) -> (&'a View, &'a View) {
    if data == Direction::Up { (client, server) } else { (server, client) }
}
