use wire::{Frame, L4, Malformed, Observation, Point};

use crate::link_layer::{Network, network};
use crate::points::Points;
use crate::record::Found;
use crate::window::Window;
use crate::{Error, FileStatistics, Packet, Reader};

/// One capture of a merge: its packets made observations, in order of time.
pub(crate) struct Source {
    reader: Reader,
    window: Window,
    points: Points,
    ended: bool,
}

impl Source {
    pub fn new(site: u32, reader: Reader) -> Source {
        Source { points: Points::new(site), reader, window: Window::new(), ended: false }
    }

    /// The next observation, when it is known.
    #[inline]
    pub fn first(&self) -> Option<&Observation> {
        self.window.first()
    }

    /// Gives the next observation, which must be known.
    #[inline]
    pub fn take(&mut self) -> &Observation {
        self.window.take()
    }

    pub fn position(&self) -> u64 {
        self.reader.position()
    }

    /// Reads on until the next observation is known, or to the end.
    pub fn read(&mut self, statistics: &mut FileStatistics, points: &mut Vec<Point>) -> Result<(), Error> {
        let mut result = Ok(());
        while !self.ended && self.window.first().is_none() {
            self.window.recycle();
            result = self.fill(statistics, points);
            self.ended |= result.is_err();
            self.window.look_ahead(self.reader.interfaces().len());
            self.window.settle(points, self.ended);
            statistics.describe(self.reader.interfaces());
            statistics.cut = self.reader.cut().map(|error| error.fault.to_string());
        }
        result
    }

    fn fill(&mut self, statistics: &mut FileStatistics, points: &mut Vec<Point>) -> Result<(), Error> {
        while !self.window.is_full() {
            let Some(found) = self.reader.advance()? else {
                self.ended = true;
                break;
            };
            self.observe(&found, statistics, points);
        }
        Ok(())
    }

    /// Takes what was found where that is an IP packet that can be read; counts it in any case.
    #[inline(always)]
    fn observe(&mut self, found: &Found, statistics: &mut FileStatistics, points: &mut Vec<Point>) {
        let packet = self.reader.packet(found);
        statistics.packets += 1;
        let (offset, direction, interface) = match network(packet.link_type, packet.data) {
            Network::Ip { offset, direction, interface } => (offset, direction, interface),
            other => return not_observed(&packet, other, statistics),
        };
        let bytes = &packet.data[offset..];
        let frame = match Frame::parse(bytes, packet.original_len - offset as u32) {
            Ok(frame) => frame,
            Err(malformed) => return broken(&packet, malformed, statistics),
        };
        let is_udp = count(&frame, statistics);
        let observation = Observation {
            at: packet.at,
            point: self.points.point((packet.interface, interface), &self.reader, points),
            direction: packet.direction.or(direction),
            record: packet.record,
            captured: bytes.len() as u32,
            frame,
        };
        self.window.push(observation, self.reader.interfaces().len(), statistics);
        if is_udp && let Some(observation) = self.window.last_mut() {
            observation.frame.look(bytes, packet.original_len - offset as u32);
        }
    }
}

/// Counts it; true where it is UDP.
#[inline]
fn count(frame: &Frame, statistics: &mut FileStatistics) -> bool {
    statistics.fragments += u64::from(frame.ip.fragment.is_some());
    if let L4::Tcp(tcp) = &frame.l4 {
        statistics.tcp += 1;
        statistics.cut_options += u64::from(tcp.options.is_cut());
        return false;
    }
    if let Some(kind) = tunnel(&frame.l4) {
        *statistics.tunnels.entry(kind).or_default() += 1;
    }
    let is_udp = matches!(frame.l4, L4::Udp { .. });
    *(if is_udp { &mut statistics.udp } else { &mut statistics.other_ip }) += 1;
    is_udp
}

/// The kind of tunnel that a packet belongs to, by IANA's protocol numbers and the receiver's UDP port.
fn tunnel(l4: &L4) -> Option<&'static str> {
    match l4 {
        L4::Udp { destination_port: 4789 | 8472, .. } => Some("VXLAN"), // RFC 7348 §5; Linux before a port was given
        L4::Udp { destination_port: 6081, .. } => Some("Geneve"),       // RFC 8926 §3.3
        L4::Udp { destination_port: 2152, .. } => Some("GTP-U"),        // 3GPP TS 29.281 §4.4.2
        L4::Udp { destination_port: 4754, .. } | L4::Other(47) => Some("GRE"), // RFC 8086 §3, RFC 2784
        L4::Udp { destination_port: 3544, .. } => Some("Teredo"),       // RFC 4380 §2.7
        L4::Other(4 | 41) => Some("IP-in-IP"),                          // RFC 2003, RFC 4213
        L4::Other(50) => Some("IPsec ESP"),                             // RFC 4303
        _ => None,
    }
}

#[cold]
fn not_observed(packet: &Packet, network: Network, statistics: &mut FileStatistics) {
    match network {
        Network::Unsupported => {
            statistics.unsupported += 1;
            statistics.unsupported_link_type.get_or_insert(packet.link_type);
        }
        Network::Short if is_cut(packet) => statistics.truncated_headers += 1,
        _ => statistics.not_ip += 1,
    }
}

#[cold]
fn broken(packet: &Packet, malformed: Malformed, statistics: &mut FileStatistics) {
    if matches!(malformed, Malformed::Short { .. }) && is_cut(packet) {
        statistics.truncated_headers += 1;
    } else {
        statistics.malformed += 1;
        statistics.malformed_example.get_or_insert_with(|| format!("packet {}: {malformed}", packet.record));
    }
}

fn is_cut(packet: &Packet) -> bool {
    packet.original_len as usize > packet.data.len()
}
