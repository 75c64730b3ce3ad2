//! Two endpoints and a hostile middle: whatever it does, nobody panics, talks without end or hoards, and what is sent
//! can be written and read back as itself.

mod hostile;

use arbitrary::{Result, Unstructured};
use hostile::Middle;
use std::net::{IpAddr, SocketAddr};
use transport::config::{Ecn, Join};
use transport::path_manager::LocalEndpoint;
use transport::{Config, ConnectionId, Endpoint, Event, Nic, congestion, path_manager, scheduler};
use wire::{Content, Flags, Frame, Ip, L4, Options, Packet, Payload, Tcp, Time};

const PORT: u16 = 80;
const MS: i64 = 1_000_000;
/// What fits into all windows in segments of the least size, several times.
const MOST_PACKETS_AT_ONCE: usize = 20_000;
const MOST_ROUNDS_AT_ONCE: usize = 16;

/// The bytes choose the configurations and what happens.
pub fn check(data: &[u8]) {
    let mut input = Unstructured::new(data);
    if let Ok(mut lab) = Lab::new(&mut input) {
        while !input.is_empty() && lab.step(&mut input).is_ok() {}
        lab.calm();
    }
}

struct Lab {
    now: Time,
    ends: [Endpoint; 2],
    addresses: [Vec<IpAddr>; 2],
    middle: Middle,
    /// Each end's first connection.
    ids: [Option<ConnectionId>; 2],
    written: [u64; 2],
    read: [u64; 2],
    most_bytes: u64,
}

impl Lab {
    fn new(input: &mut Unstructured) -> Result<Lab> {
        let v6: bool = input.arbitrary()?;
        let address = |end: usize, n: u8| match v6 {
            false => IpAddr::from([10, end as u8, n, 1]),
            true => IpAddr::from([0xfd00, end as u16, u16::from(n), 0, 0, 0, 0, 1]),
        };
        let addresses = [0, 1].map(|end| (0..2).map(|n| address(end, n)).collect::<Vec<_>>());
        let configs = [config(input, addresses[0][1])?, config(input, addresses[1][1])?];
        let most_bytes = configs[0].tcp.max_receive_buffer_bytes;
        let now = Time::from_nanos(1_000_000_000_000);
        let mtu_bytes = *input.choose(&[1500, 1280, 68])?;
        let mut ends = [1, 2].map(|seed| Endpoint::new(configs[seed - 1].clone(), seed as u64));
        for (end, addresses) in ends.iter_mut().zip(&addresses) {
            for (nic, &address) in addresses.iter().enumerate() {
                end.address_up(now, Nic(nic as u32), address, mtu_bytes);
            }
        }
        ends[1].listen(PORT);
        let (local, remote) = (SocketAddr::new(addresses[0][0], 0), SocketAddr::new(addresses[1][0], PORT));
        let id = ends[0].connect(now, local, remote);
        let middle = Middle::default();
        let mut lab =
            Lab { now, ends, addresses, middle, ids: [Some(id), None], written: [0; 2], read: [0; 2], most_bytes };
        lab.settle();
        Ok(lab)
    }

    /// One thing happens.
    fn step(&mut self, input: &mut Unstructured) -> Result<()> {
        let end = usize::from(input.arbitrary::<bool>()?);
        match input.int_in_range(0..=11)? {
            0..=3 => {
                if let Some((to, packet)) = self.middle.next(input)? {
                    self.deliver(to, &packet);
                }
            }
            4 => self.wait(i64::from(input.arbitrary::<u16>()?) * MS),
            5 => {
                let deadline = self.ends[0].deadline().min(self.ends[1].deadline());
                if deadline < Time::MAX {
                    self.wait((deadline - self.now).max(0));
                }
            }
            6 => {
                if let Some(id) = self.ids[end] {
                    self.written[end] += self.ends[end].write(id, u64::from(input.arbitrary::<u16>()?));
                }
            }
            7 => self.read(end, u64::from(input.arbitrary::<u16>()?)),
            8 => {
                let (nic, up) = (usize::from(input.arbitrary::<bool>()?), input.arbitrary()?);
                let address = self.addresses[end][nic];
                match up {
                    true => self.ends[end].address_up(self.now, Nic(nic as u32), address, 1500),
                    false => self.ends[end].address_down(self.now, address),
                }
            }
            9 => {
                let act = input.int_in_range(0..=15)?;
                let Some(id) = self.ids[end] else { return Ok(()) };
                match act {
                    0 => self.ends[end].abort(self.now, id),
                    1..=4 => self.ends[end].finish(self.now, id),
                    _ => self.written[end] += self.ends[end].write(id, 5000),
                }
            }
            _ => {
                if let Some(packet) = self.middle.forge(end, input)? {
                    self.deliver(end, &packet);
                }
            }
        }
        self.settle();
        Ok(())
    }

    fn deliver(&mut self, to: usize, packet: &Packet) {
        let nic = self.addresses[to].iter().position(|&address| address == packet.frame.ip.destination);
        self.ends[to].handle(self.now, Nic(nic.unwrap_or(0) as u32), packet);
    }

    fn read(&mut self, end: usize, bytes: u64) {
        if let Some(id) = self.ids[end] {
            self.read[end] += self.ends[end].read(self.now, id, bytes);
        }
    }

    /// Time passes; the deadlines on the way are kept, at most so many.
    fn wait(&mut self, nanos: i64) {
        let until = self.now + nanos;
        for _ in 0..64 {
            let deadline = self.ends[0].deadline().min(self.ends[1].deadline());
            if deadline > until {
                break;
            }
            self.now = self.now.max(deadline);
            self.ends.iter_mut().for_each(|end| end.timeout(self.now));
            self.settle();
        }
        self.now = until;
        self.settle();
    }

    /// Sends all there is to send and hears all events; after that every deadline lies ahead.
    fn settle(&mut self) {
        for _ in 0..MOST_ROUNDS_AT_ONCE {
            for end in 0..2 {
                self.send(end);
                while let Some((id, event)) = self.ends[end].event() {
                    if matches!(event, Event::Accepted { .. }) {
                        self.ids[end].get_or_insert(id);
                    }
                }
                self.check(end);
            }
            if self.ends.iter().all(|end| end.deadline() > self.now) {
                return;
            }
            self.ends.iter_mut().for_each(|end| end.timeout(self.now));
        }
        panic!("time stands still");
    }

    fn send(&mut self, end: usize) {
        let mut packet = blank();
        for _ in 0..MOST_PACKETS_AT_ONCE {
            if self.ends[end].transmit(self.now, &mut packet).is_none() {
                return;
            }
            let mut bytes = Vec::new();
            packet.emit(&mut bytes, None).unwrap_or_else(|error| panic!("{error}: {packet:?}"));
            let read = Frame::parse(&bytes, bytes.len() as u32).expect("what is sent is well formed");
            let mut sent = packet.frame;
            sent.payload.content = Content::Unsaid;
            if sent.ip.source.is_ipv6() {
                // IPv6 has no such fields.
                (sent.ip.id, sent.ip.dont_fragment) = (read.ip.id, read.ip.dont_fragment);
            }
            assert_eq!(read, sent);
            self.middle.take(1 - end, &packet, bytes);
        }
        panic!("talks without end");
    }

    fn check(&self, end: usize) {
        let Some(snapshot) = self.ids[end].and_then(|id| self.ends[end].snapshot(id)) else { return };
        assert!(snapshot.out_of_order_bytes <= 2 * self.most_bytes, "{snapshot:?}");
        assert!(snapshot.subflows.len() <= 64, "{snapshot:?}");
        if !self.middle.tampered {
            assert_eq!(snapshot.corrupt_bytes, 0);
            assert!(self.read[end] <= self.written[1 - end]);
        }
    }

    /// From now on all arrives in order and both read: nobody minds what happened before.
    fn calm(&mut self) {
        for _ in 0..300 {
            if let Some((to, packet)) = self.middle.oldest() {
                self.deliver(to, &packet);
            } else {
                let deadline = self.ends[0].deadline().min(self.ends[1].deadline());
                if deadline == Time::MAX {
                    return;
                }
                self.now = self.now.max(deadline);
                self.ends.iter_mut().for_each(|end| end.timeout(self.now));
            }
            self.settle();
            (0..2).for_each(|end| self.read(end, u64::MAX));
            self.settle();
        }
    }
}

/// Settings whose buffers are small; `other` is the host's second address.
fn config(input: &mut Unstructured, other: IpAddr) -> Result<Config> {
    let mut config = Config::default();
    let tcp = &mut config.tcp;
    let on: u16 = input.arbitrary()?;
    let on = |bit: u16| on & (1 << bit) == 0;
    (tcp.window_scaling, tcp.timestamps, tcp.sack, tcp.rack) = (on(0), on(1), on(2), on(3));
    (tcp.tail_loss_probe, tcp.undo, tcp.pacing, tcp.linux_timeout) = (on(4), on(5), !on(6), on(7));
    (tcp.proportional_rate_reduction, tcp.receive_buffer_tuning) = (on(8), on(9));
    tcp.keep_alive_idle_ns = (!on(10)).then_some(1000 * MS);
    tcp.delayed_ack_ns = on(11).then_some(40 * MS);
    (tcp.receive_buffer_bytes, tcp.max_receive_buffer_bytes, tcp.send_buffer_bytes) = (16_384, 65_536, 65_536);
    let mptcp = &mut config.mptcp;
    (mptcp.enabled, mptcp.long_numbers) = (on(12), on(13));
    (mptcp.checksum, mptcp.opportunistic_retransmission, mptcp.penalisation) = (!on(14), !on(15), !on(15));
    mptcp.scheduler = (*input.choose(scheduler::NAMES)?).into();
    mptcp.path_manager.name = (*input.choose(path_manager::NAMES)?).into();
    (mptcp.path_manager.max_subflows, mptcp.path_manager.max_add_addr_accepted) = (8, 8);
    let uses: u8 = input.arbitrary()?;
    let uses = |bit: u8| uses & (1 << bit) != 0;
    tcp.appropriate_byte_counting = !uses(6);
    tcp.ecn = if uses(7) { Ecn::Request } else { Ecn::Accept };
    mptcp.version = u8::from(!uses(4));
    mptcp.join = if uses(5) { Join::Simultaneous } else { Join::Specified };
    let endpoint = LocalEndpoint {
        address: other,
        subflow: uses(0),
        signal: uses(1),
        backup: uses(2),
        fullmesh: uses(3),
        budget_bytes: None,
        cost_per_mb: 0.0,
    };
    mptcp.path_manager.endpoints.push(endpoint);
    config.congestion_control = (*input.choose(congestion::NAMES)?).into();
    Ok(config)
}

fn blank() -> Packet {
    let nobody = IpAddr::from([0; 4]);
    let ip = Ip { source: nobody, destination: nobody, ttl: 64, tos: 0, id: 0, dont_fragment: true, fragment: None };
    let tcp = Tcp {
        source_port: 0,
        destination_port: 0,
        seq: 0,
        ack: 0,
        flags: Flags(0),
        window: 0,
        urgent: 0,
        options: Options::NONE,
    };
    Packet { frame: Frame { ip, l4: L4::Tcp(tcp), payload: Payload::unsaid(0) }, body: None }
}
