//! What the captures of both ends show of the way between them: what left one is compared with what came to the other.

use super::subflow::View;
use super::{Connection, JudgedEnd, Subflow};
use tables::{Diagnostic, Direction};

/// So many segments of one size that never arrive are no coincidence.
const NEVER: u32 = 3;
/// Windows that arrive are smaller than this part of those that left: what the last of them said may be lost.
const CLAMPED: u64 = 2;

impl Connection {
    /// Remarks on boxes that changed what passed on each subflow, where both ends saw it.
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
                    message: message.into(),
                    ..Diagnostic::default()
                });
            }
        }
        remarks
    }
}

type Remark = (&'static str, Option<u64>, &'static str);

/// What the views of the client and of the server say of each other.
fn found(subflow: &Subflow, client: &View, server: &View) -> Vec<Remark> {
    let mut remarks: Vec<Remark> = Vec::new();
    if client.addresses != server.addresses {
        let message = "addresses or ports are others at the server than at the client: a NAT is between them";
        remarks.push(("address_translated", None, message));
    }
    // A box that rewrites leaves timestamps as they are; what has a connection of its own has a clock of its own.
    let mut clocks = client.clocks.iter().zip(&server.clocks);
    let is_split = clocks.any(|(a, b)| !a.is_empty() && !b.is_empty() && !a.iter().any(|clock| b.contains(clock)));
    let known = Direction::BOTH.map(|data| {
        let (sender, receiver) = ends_of(data, client, server);
        let (left, came) = (&sender.sequences[data as usize], &receiver.sequences[data as usize]);
        (left, came, sender.merged[data as usize])
    });
    if is_split {
        let message = "the handshakes at the two ends are not the same: a proxy between them has a connection with each, and \
                       what one end is told arrived the other may lack";
        remarks.push(("split_connection", None, message));
        return remarks;
    }
    if known.iter().any(|(left, came, _)| left.from_syn && came.from_syn && left.base() != came.base()) {
        let message = "sequence numbers are others at the other end: a box rewrites them; MPTCP counts from the SYN and is not hurt";
        remarks.push(("sequence_rewritten", None, message));
    }
    let opener = subflow.opener as usize;
    let missing = |direction: usize| {
        let (from, to) = if direction == Direction::Up as usize { (client, server) } else { (server, client) };
        from.offers[direction] == Some(true) && to.offers[direction] == Some(false)
    };
    if missing(opener) || missing(1 - opener) {
        let message = if missing(opener) {
            "the SYN left with an MPTCP option and arrived without: a box strips it"
        } else {
            "the SYN/ACK left with an MPTCP option and arrived without: a box strips it"
        };
        remarks.push(("options_stripped", None, message));
    }
    // What a receiver announces travels the other way than its data.
    for (left, came, _) in &known {
        if let (Some(arrived), Some(announced)) = (left.mss_bytes, came.mss_bytes)
            && arrived < announced
        {
            let message =
                "the maximum segment size of a SYN arrived smaller than it left: a box clamps it to the count";
            remarks.push(("mss_clamped", Some(arrived.into()), message));
        }
        // Announcements that nothing followed may be lost, all of them.
        let acked = left.acked().filter(|_| left.from_syn && came.from_syn);
        let announced = acked.map_or(0, |acked| came.windows.widest_bytes_before(acked));
        let arrived = left.windows.widest_bytes();
        if arrived > 0 && arrived < announced / CLAMPED {
            let message = "receive windows arrived smaller than they left: a box clamps them, to the count at most";
            remarks.push(("window_clamped", Some(arrived), message));
        }
    }
    for (left, came, merged) in known {
        let (sent, arrived) = (left.sizes, came.sizes);
        if merged || sent.segments == 0 || arrived.segments == 0 {
            continue;
        }
        if arrived.largest > sent.largest {
            let message = "larger segments arrived than were sent, of so many bytes: a box, or an offload of the receiving host, joins them";
            remarks.push(("segments_joined", Some(arrived.largest.into()), message));
        } else if arrived.largest < sent.largest && arrived.segments > sent.segments {
            let message = "more and smaller segments arrived than were sent, of so many bytes at most: a box, or an offload of the sending host, cuts them";
            remarks.push(("segments_split", Some(arrived.largest.into()), message));
        } else if arrived.largest < sent.largest && sent.of_largest >= NEVER {
            let message = "no segment larger than so many bytes of payload arrived, and some were sent: the way takes no packets as large";
            remarks.push(("large_segments_lost", Some(arrived.largest.into()), message));
        }
    }
    remarks
}

/// The ends that send and receive the data of a direction.
fn ends_of<'a>(data: Direction, client: &'a View, server: &'a View) -> (&'a View, &'a View) {
    if data == Direction::Up { (client, server) } else { (server, client) }
}
