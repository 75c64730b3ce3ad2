//! What control bits do to a connection: how subflows are opened and reset.

use super::connection::Connection;
use super::end::End;
use super::packet::Packet;
use super::subflow::{Alignment, Kind as SubflowKind};
use crate::event::Happening;
use wire::mptcp::Mptcp;
use wire::{Flags, TcpOption, seq};

/// The capture may lack what was sent after the SYN, as much as a window held that is not scaled yet (RFC 7323 §2.2).
const UNSCALED_WINDOW_BYTES: i64 = 65_535;

impl Connection {
    pub(super) fn syn(&mut self, packet: &Packet) {
        let subflow = &mut self.subflows[packet.subflow];
        let d = packet.direction as usize;
        subflow.syn_cut[d] |= packet.tcp.options.is_cut();
        subflow.says_of_ecn(packet.tcp.flags);
        let view = subflow.views[packet.end].as_mut().expect("the end has a view");
        let options = &packet.tcp.options;
        let offers = options.iter().any(|option| matches!(option, Ok(TcpOption::Mptcp(_))));
        let is_whole = !options.is_cut();
        if packet.tcp.flags.has(Flags::ACK) {
            view.handshake.syn_ack(packet.seen);
        } else {
            view.handshake.asked[usize::from(offers)] += u32::from(is_whole && view.handshake.syn_ack.is_none());
            view.handshake.syn(packet.seen);
        }
        if is_whole {
            view.offers[d] = Some(offers);
        }
        view.sequences[d].begin(packet.tcp.seq);
        view.alignment[d] = Alignment::Known(0);
        if packet.tcp.flags.has(Flags::ACK) {
            // Its acknowledgement tells the other side's initial sequence number, also where the SYN was not seen.
            let other = packet.direction.reverse() as usize;
            if !view.sequences[other].from_syn {
                view.sequences[other].begin(packet.tcp.ack.wrapping_sub(1));
                view.alignment[other] = Alignment::Known(0);
            }
            // RFC 8684 §B.2: what the SYN carried has no place in the data, and mappings count from behind it.
            let in_syn = view.sequences[other].position(packet.tcp.ack);
            if in_syn > 0 {
                view.alignment[other] = Alignment::Known(in_syn);
            }
        }
    }

    /// Whether a packet belongs to an older connection of the same ports: it answers a SYN without acknowledging it, as a
    /// challenge ACK does (RFC 5961 §4.2) and the SYN/ACK for an old SYN (RFC 9293 §3.5, figure 8), or is the reset that the
    /// opener sends back. The opener heeds neither (RFC 9293 §3.10.7.3).
    pub(super) fn is_stray(&mut self, packet: &Packet) -> bool {
        let opener = self.subflows[packet.subflow].opener;
        let view = self.view(packet);
        let flags = packet.tcp.flags;
        let is_by_opener = packet.direction == opener;
        if !view.handshake.is_asking() || flags.has(Flags::SYN) && (is_by_opener || !flags.has(Flags::ACK)) {
            return false;
        }
        let sequence = &mut view.sequences[opener as usize];
        if is_by_opener {
            return flags.has(Flags::RST) && !sequence.may_hold(packet.tcp.seq, UNSCALED_WINDOW_BYTES);
        }
        flags.has(Flags::ACK) && !sequence.may_hold(packet.tcp.ack, UNSCALED_WINDOW_BYTES)
    }

    /// The first packet of the opener after the SYN/ACK ends the handshake.
    pub(super) fn third_packet(&mut self, packet: &Packet) {
        let subflow = &mut self.subflows[packet.subflow];
        let (opener, kind) = (subflow.opener, subflow.kind);
        let view = subflow.views[packet.end].as_mut().expect("the end has a view");
        let handshake = &mut view.handshake;
        handshake.confirmed |= packet.direction != opener && handshake.ack.is_some();
        if packet.direction != opener || handshake.ack.is_some() || !handshake.began() {
            return;
        }
        // Linux with MPTCP v0 sends ACKs on a subflow that waits for its SYN/ACK, with the SYN's number.
        let after_syn = view.sequences[opener as usize].base();
        if after_syn.is_some_and(|first| seq::diff(packet.tcp.seq, first) < 0) {
            return;
        }
        handshake.ack(packet.seen);
        let event = match kind {
            SubflowKind::Initial | SubflowKind::Tcp if self.is_unknown() => return,
            SubflowKind::Initial if self.fallback.is_none() => "mptcp_established",
            SubflowKind::Join => "join_established",
            _ => "tcp_established",
        };
        self.happened(
            packet,
            Happening {
                address_id: self.subflows[packet.subflow].address_ids[opener as usize],
                ..Happening::new(event)
            },
        );
    }

    /// The other side knows no subflow of these addresses: it resets what comes, and takes nothing of it.
    pub(super) fn unknown_there(&mut self, packet: &Packet) {
        let flags = packet.tcp.flags;
        if flags.has(Flags::RST) {
            let reason = packet.tcp.options.iter().flatten().find_map(|option| match option {
                TcpOption::Mptcp(Mptcp::TcpRst(reset)) => Some(reset.reason),
                _ => None,
            });
            self.reset(packet, reason);
            return;
        }
        let (len, fin) = (packet.observation.frame.payload.len, flags.has(Flags::FIN));
        if len > 0 || fin {
            self.data(packet, len, fin);
        }
    }

    /// Whether the sender of a packet had said that it has no more to send, on any subflow.
    fn has_closed(&self, packet: &Packet) -> bool {
        let d = packet.direction as usize;
        let has_fin = |end: &End| end.streams[d].fin.is_some();
        self.fast_closed_by == Some(packet.direction)
            || self.ends[packet.end].as_deref().is_some_and(has_fin)
            || self.subflows[packet.subflow].views[packet.end]
                .as_ref()
                .is_some_and(|view| view.sequences[d].fin.is_some())
    }

    pub(super) fn reset(&mut self, packet: &Packet, reason: Option<u8>) {
        let reason = reason.map(reset_reason);
        let opener = self.subflows[packet.subflow].opener;
        let view = self.view(packet);
        let sequence = &mut view.sequences[packet.direction as usize];
        let position = sequence.position(packet.tcp.seq);
        if view.handshake.ack.is_some() && !sequence.in_window(position) {
            let detail = Some("outside the receiver's window: not believed");
            self.happened(packet, Happening { detail, ..Happening::new("reset") });
            return;
        }
        view.reset = true;
        self.may_close = true;
        let known = &mut self.subflows[packet.subflow].reset_reason;
        *known = reason.or(*known);
        let view = self.view(packet);
        let again = std::mem::replace(&mut view.resets[packet.direction as usize], true);
        if packet.direction != opener && view.handshake.ack.is_none() {
            view.handshake.reset.get_or_insert(packet.seen);
        }
        if again {
            return;
        }
        let by_closer = self.has_closed(packet);
        self.happened(packet, Happening { detail: reason, by_closer, ..Happening::new("reset") });
    }
}

/// RFC 8684 §3.6, figure 15.
fn reset_reason(code: u8) -> &'static str {
    match code {
        0 => "unspecified error",
        1 => "MPTCP-specific error",
        2 => "lack of resources",
        3 => "administratively prohibited",
        4 => "too much outstanding data",
        5 => "unacceptable performance",
        6 => "middlebox interference",
        _ => "unknown reason",
    }
}
