//! How a subflow was opened, as seen at one end (RFC 9293 §3.5, RFC 8684 §3.1 and §3.2).

use crate::event::Seen;

/// What was seen of a handshake.
#[derive(Debug, Default)]
pub(super) struct Handshake {
    pub(super) syn: Option<Seen>,
    pub(super) syn_count: u32,
    pub(super) syn_ack: Option<Seen>,
    pub(super) syn_ack_count: u32,
    pub(super) ack: Option<Seen>,
    pub(super) reset_by_acceptor: bool,
    /// MPTCP options on each of the three packets.
    pub(super) option_on_syn: bool,
    pub(super) option_on_syn_ack: bool,
    pub(super) option_on_ack: bool,
}

impl Handshake {
    /// SYN to SYN/ACK: what the acceptor took, as seen here.
    pub(super) fn acceptor_nanos(&self) -> Option<u64> {
        let (syn, syn_ack) = (self.syn?, self.syn_ack?);
        (self.syn_count == 1).then(|| (syn_ack.at - syn.at).max(0) as u64)
    }

    /// SYN/ACK to ACK: what the opener took, as seen here.
    pub(super) fn opener_nanos(&self) -> Option<u64> {
        let (syn_ack, ack) = (self.syn_ack?, self.ack?);
        (self.syn_ack_count == 1).then(|| (ack.at - syn_ack.at).max(0) as u64)
    }

    pub(super) fn outcome(&self) -> &'static str {
        match (self.syn, self.syn_ack, self.ack) {
            _ if self.ack.is_some() && self.syn_ack.is_some() => "established",
            (Some(_), _, _) if self.reset_by_acceptor => "refused",
            (Some(_), None, _) => "unanswered",
            (Some(_), Some(_), None) => "unfinished",
            _ => "unseen",
        }
    }
}
