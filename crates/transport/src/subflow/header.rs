//! The header of a segment: numbers, window, options.

use super::{Emission, Kind, State, Subflow};
use wire::{Flags, Options, Tcp, TcpOption, Time};

/// Bytes that all options of a header may take.
const ROOM: u32 = 40;
/// Bytes that timestamps take, padded.
pub(super) const TIMESTAMPS_BYTES: u32 = 12;
/// Bytes of a selective acknowledgement without and per block, padded.
const SACK_BYTES: u32 = 4;
const SACK_BLOCK_BYTES: u32 = 8;

impl Subflow {
    /// Writes the header of `emission` to `tcp` but for its window, with the options that go before the connection's own.
    pub fn begin_header(&mut self, now: Time, emission: &Emission, tcp: &mut Tcp) {
        (tcp.source_port, tcp.destination_port) = (self.local.port(), self.remote.port());
        tcp.seq = self.isn.wrapping_add(emission.offset as u32);
        tcp.flags = self.flags(emission);
        if emission.kind == Kind::Syn {
            tcp.seq = tcp.seq.wrapping_sub(self.syn.bytes());
        }
        tcp.ack = if tcp.flags.has(Flags::ACK) { self.inbound.seq(self.inbound.next) } else { 0 };
        tcp.urgent = 0;
        tcp.options.clear();
        // Linux's clock stands still, but never goes back: the peer would drop what is older than others (RFC 7323 §5.3).
        let is_old = self.is_unasked && emission.kind == Kind::Ack;
        let shown = self.clock.show(if is_old { self.last_heard.max(self.clock.shown()) } else { now });
        if tcp.flags.has(Flags::SYN) {
            self.syn_options(shown, emission.kind, &mut tcp.options);
        } else if self.clock.is_used() {
            let _ = tcp.options.push_timestamps(shown, self.clock.echo()); // the first find room
        }
    }

    /// Completes the header once the connection has added its options: `window_bytes` is the window to announce, not
    /// scaled; selective acknowledgements take what room is left.
    pub fn finish_header(&mut self, emission: &Emission, window_bytes: u64, tcp: &mut Tcp) {
        self.is_unasked = false;
        self.tell_ecn(emission, tcp);
        let shift = if tcp.flags.has(Flags::SYN) { 0 } else { self.scaling.own_shift() };
        tcp.window = (window_bytes >> shift).min(u64::from(u16::MAX)) as u16;
        if self.sack && self.inbound.has_blocks() && tcp.flags.has(Flags::ACK) && !tcp.flags.has(Flags::RST) {
            let room = ROOM.min(self.segment_size.full().saturating_sub(emission.len));
            let room = room.saturating_sub(tcp.options.as_bytes().len() as u32 + SACK_BYTES) / SACK_BLOCK_BYTES;
            if room > 0 {
                add(&mut tcp.options, &TcpOption::Sack(self.inbound.blocks(room as usize)));
            }
        }
    }

    fn flags(&self, emission: &Emission) -> Flags {
        match emission.kind {
            Kind::Syn => Flags::SYN,
            Kind::SynAck => Flags::SYN.with(Flags::ACK),
            Kind::Ack | Kind::Probe => Flags::ACK,
            Kind::Data => pushed(emission, Flags::ACK),
            Kind::Fin => pushed(emission, Flags::ACK.with(Flags::FIN)),
            // RFC 9293 §3.10.7.3: what answers no SYN of ours is refused without an ACK.
            Kind::Reset if self.state != State::Closed => Flags::RST,
            Kind::Reset => Flags::RST.with(Flags::ACK),
        }
    }

    /// What a SYN offers, or what its answer accepts of that.
    #[cold]
    #[inline(never)]
    fn syn_options(&self, shown: u32, kind: Kind, options: &mut Options) {
        let answers = kind == Kind::SynAck;
        add(options, &TcpOption::MaximumSegmentSize(self.segment_size.offered().min(u32::from(u16::MAX)) as u16));
        if if answers { self.sack } else { self.settings.sack } {
            add(options, &TcpOption::SackPermitted);
        }
        if if answers { self.clock.is_used() } else { self.settings.timestamps } {
            add(options, &TcpOption::Timestamps { value: shown, echo: self.clock.echo() });
        }
        if if answers { self.scaling.is_used() } else { self.settings.window_scaling } {
            add(options, &TcpOption::WindowScale(self.scaling.offered()));
        }
    }
}

/// The flags of a segment with data.
fn pushed(emission: &Emission, flags: Flags) -> Flags {
    if emission.piece.is_some_and(|piece| piece.push) { flags.with(Flags::PSH) } else { flags }
}

fn add(options: &mut Options, option: &TcpOption) {
    // What finds no room is left out.
    let _ = options.push(option);
}
