use crate::Ticks;
use std::net::SocketAddr;
use transport::Nic;
use wire::{Frame, Ip, L4, Packet, Payload, Time};

/// Bytes of the UDP header (RFC 768).
const HEADER: u32 = 8;

/// UDP datagrams that came in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagrams {
    /// How many.
    pub packets: u64,
    /// Bytes that they carried.
    pub bytes: u64,
}

/// Sends UDP datagrams of one size at even times.
#[derive(Clone, Debug)]
pub struct Source {
    nic: Nic,
    local: SocketAddr,
    remote: SocketAddr,
    packet_bytes: u32,
    ticks: Ticks,
    /// Datagrams whose time has come.
    due: u64,
}

impl Source {
    /// From `local` on `nic` to `remote`: IP packets of `packet_bytes` at a rate that counts all of them, from `start`
    /// on, before `stop`.
    ///
    /// # Panics
    /// When the rate is 0, or the packets are too small for their headers.
    pub fn new(
        nic: Nic,
        (local, remote): (SocketAddr, SocketAddr),
        packet_bytes: u32,
        rate_bits_per_second: u64,
        (start, stop): (Time, Time),
    ) -> Source {
        assert!(packet_bytes >= ip_header(local) + HEADER, "UDP packets of {packet_bytes} bytes");
        let ticks = Ticks::new(start, packet_bytes.into(), rate_bits_per_second, stop);
        Source { nic, local, remote, packet_bytes, ticks, due: 0 }
    }

    pub(crate) fn deadline(&self) -> Time {
        self.ticks.next()
    }

    pub(crate) fn timeout(&mut self, now: Time) {
        while self.ticks.next() <= now {
            self.ticks.advance();
            self.due += 1;
        }
    }

    pub(crate) fn transmit(&mut self, packet: &mut Packet) -> Option<Nic> {
        self.due = self.due.checked_sub(1)?;
        packet.frame = Frame {
            ip: Ip {
                source: self.local.ip(),
                destination: self.remote.ip(),
                ttl: 64,
                tos: 0,
                id: 0,
                dont_fragment: true,
                fragment: None,
            },
            l4: L4::udp(self.local.port(), self.remote.port()),
            payload: Payload::unsaid(self.packet_bytes - ip_header(self.local) - HEADER),
        };
        Some(self.nic)
    }
}

fn ip_header(address: SocketAddr) -> u32 {
    if address.is_ipv4() { 20 } else { 40 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_have_the_size_and_the_times_asked_for() {
        let [local, remote] = [1, 2].map(|host| SocketAddr::from(([10, 0, 0, host], 9)));
        let times = (Time::from_nanos(0), Time::from_nanos(2500));
        let mut source = Source::new(Nic(3), (local, remote), 100, 800_000_000, times);
        let mut packet = crate::state::blank();
        assert_eq!(source.transmit(&mut packet), None);
        let mut sent = Vec::new();
        while source.deadline() < Time::MAX {
            let now = source.deadline();
            source.timeout(now);
            while source.transmit(&mut packet) == Some(Nic(3)) {
                sent.push((now.as_nanos(), packet.frame.wire_len()));
            }
        }
        assert_eq!(sent, [(0, 100), (1000, 100), (2000, 100)]);
    }
}
