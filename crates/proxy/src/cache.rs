//! It answers in the server's place, to the client alone.

use crate::{Origin, make_plain};
use host::{Host, Interface};
use link::{Direction, Element, Out};
use parameters::{Fault, fault};
use transport::{Config, Nic};
use wire::{L4, Packet, Time, TooBig};

const MTU_BYTES: u32 = 1500;

pub(super) fn make(config: Config, seed: u64, start: Time, origin: Origin) -> Result<Box<dyn Element>, Fault> {
    let Origin { addresses, port, service, .. } = origin;
    let service = service.ok_or_else(|| fault("cached", "an upload cannot be cached in advance"))?;
    let mut host = Host::new(config, seed, vec![Interface::new("proxy", addresses, MTU_BYTES)]);
    host.attach(start, Nic(0));
    host.listen(port, service);
    Ok(Box::new(Cache { host, port, spare: Vec::new() }))
}

struct Cache {
    host: Host,
    port: u16,
    /// Boxes of packets that ended here, for those to come.
    #[expect(clippy::vec_box, reason = "packets travel in boxes, which are used again")]
    spare: Vec<Box<Packet>>,
}

impl Element for Cache {
    fn push(&mut self, now: Time, direction: Direction, mut packet: Box<Packet>, out: &mut Out) {
        if self.deadline() <= now {
            self.wake(now, out);
        }
        if direction == Direction::Down || !self.is_asked(&packet) {
            return out.send(direction, packet);
        }
        make_plain(&mut packet);
        self.host.handle(now, Nic(0), &packet, &mut ());
        self.spare.push(packet);
        self.answer(now, out);
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        self.host.timeout(now);
        self.answer(now, out);
    }

    fn deadline(&self) -> Time {
        self.host.deadline()
    }

    fn answered(&self) -> [u64; 2] {
        let bytes = self.host.progress().map(|(_, progress)| [progress.read, progress.written]);
        bytes.fold([0, 0], |[up, down], [read, written]| [up + read, down + written])
    }

    fn answers(&self) -> bool {
        true
    }

    fn sees_both_directions(&self) -> bool {
        true
    }
}

impl Cache {
    /// Whether it is for the server, or ICMP about what was sent in its name.
    fn is_asked(&self, packet: &Packet) -> bool {
        let addresses = &self.host.interfaces()[0].addresses;
        let wanted = match &packet.frame.l4 {
            L4::Tcp(tcp) => tcp.destination_port == self.port,
            _ => TooBig::of(packet).is_some(),
        };
        wanted && addresses.contains(&packet.frame.ip.destination)
    }

    fn answer(&mut self, now: Time, out: &mut Out) {
        loop {
            let mut packet = self.spare.pop().unwrap_or_else(|| Box::new(host::blank()));
            if self.host.transmit(now, &mut packet, &mut ()).is_none() {
                return self.spare.push(packet);
            }
            out.send(Direction::Down, packet);
        }
    }
}
