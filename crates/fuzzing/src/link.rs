//! Whatever a chain is made of and whatever packets it meets, every packet leaves it once, ends once or is inside.

use arbitrary::{Result, Unstructured};
use link::{Chain, Change, Direction, Element, Gate, Nat, Out, build, elements, queues};
use serde_json::{Map, Value, json};
use std::net::IpAddr;
use wire::{Frame, Ip, L4, Packet, Payload, Time};

const MOST_ELEMENTS: usize = 4;
/// More than an input can be made of.
const MOST_PACKETS: u32 = 4096;
/// Between two wakes that lie before the next packet: processes go on by themselves.
const MOST_WAKES: usize = 2000;

/// What texts say.
const WORDS: [&str; 16] = [
    "normal", "uniform", "all", "syn", "data", "up", "both", "replace", "flip", "each", "first", "last", "icmp",
    "silent", "drop", "rebind",
];

/// The bytes choose the chain, its packets and what happens to them.
pub fn check(data: &[u8]) {
    let mut input = Unstructured::new(data);
    if let Ok(mut lab) = Lab::new(&mut input) {
        while !input.is_empty() && lab.step(&mut input).is_ok() {}
        lab.end();
    }
}

struct Lab {
    now: Time,
    chain: Chain,
    /// The direction of every packet, until it leaves or ends.
    inside: Vec<Option<Direction>>,
    out: Out,
}

impl Lab {
    fn new(input: &mut Unstructured) -> Result<Lab> {
        let now = Time::from_nanos(input.int_in_range(0..=1_000_000)?);
        Ok(Lab { now, chain: chain(now, input)?, inside: Vec::new(), out: Out::default() })
    }

    fn step(&mut self, input: &mut Unstructured) -> Result<()> {
        match input.int_in_range(0..=9)? {
            0..=5 => {
                let direction = if input.arbitrary()? { Direction::Up } else { Direction::Down };
                let packet = packet(self.inside.len() as u32, direction, input)?;
                self.inside.push(Some(direction));
                self.chain.push(self.now, direction, packet, &mut self.out);
                self.collect();
            }
            6..=8 => {
                let shift: u32 = input.int_in_range(0..=20)?;
                self.wait(i64::from(input.arbitrary::<u16>()?) << shift);
            }
            _ => {
                let change = match input.int_in_range(0..=5)? {
                    0 => Change::Blackout,
                    1 => Change::Hold,
                    2 => Change::Detach,
                    3 => Change::Rebind(IpAddr::from([192, 0, 2, input.arbitrary()?])),
                    4 => Change::Profile(Box::new(chain(self.now, input)?)),
                    _ => Change::Restore,
                };
                // Not every chain has a use for every change.
                let _ = self.chain.change(self.now, change, &mut self.out);
                self.collect();
            }
        }
        Ok(())
    }

    /// Wakes the chain when it wants, or, when that is too often, late.
    fn wait(&mut self, nanos: i64) {
        let until = self.now + nanos;
        for _ in 0..MOST_WAKES {
            let deadline = self.chain.deadline();
            if deadline > until {
                break;
            }
            self.now = self.now.max(deadline);
            self.wake();
        }
        self.now = until;
        self.wake();
    }

    fn wake(&mut self) {
        self.chain.wake(self.now, &mut self.out);
        self.collect();
        assert!(self.chain.deadline() > self.now, "time stands still");
    }

    fn collect(&mut self) {
        let sent = self.out.sent.drain(..);
        let dropped = self.out.dropped.drain(..).map(|dropped| (dropped.direction, dropped.packet));
        for (direction, packet) in sent.chain(dropped) {
            // The ICMP error about a packet that was too big is a packet more.
            if matches!(packet.frame.l4, L4::Icmp { .. }) {
                continue;
            }
            let number = (packet.frame.payload.len % MOST_PACKETS) as usize;
            assert_eq!(self.inside[number].take(), Some(direction), "packet {number}");
        }
    }

    /// What is still inside is all that has not left.
    fn end(&mut self) {
        self.wait(1_000_000_000);
        let mut states = Vec::new();
        self.chain.queues(&mut states);
        let queued: u64 = states.iter().map(|state| state.packets).sum();
        let mut taken = Vec::new();
        self.chain.take(&mut taken);
        assert!(queued <= taken.len() as u64);
        self.out.sent.extend(taken.into_iter().map(|(_, direction, packet)| (direction, packet)));
        self.collect();
        assert!(self.inside.iter().all(Option::is_none), "a packet vanished");
    }
}

fn packet(number: u32, direction: Direction, input: &mut Unstructured) -> Result<Box<Packet>> {
    let ends = [IpAddr::from([10, 0, 0, input.int_in_range(1..=2)?]), IpAddr::from([10, 9, 0, 1])];
    let (source, destination) = if direction == Direction::Up { (ends[0], ends[1]) } else { (ends[1], ends[0]) };
    let ip = Ip { source, destination, ttl: 64, tos: input.arbitrary()?, id: 0, dont_fragment: true, fragment: None };
    let ports = (input.int_in_range(1..=3)?, 80);
    let (source_port, destination_port) = if direction == Direction::Up { ports } else { (ports.1, ports.0) };
    let l4 = if input.arbitrary()? { L4::udp(source_port, destination_port) } else { L4::Other(253) };
    // The number goes where nothing on the way writes: what translates a packet gives it another header.
    let bytes: u32 = input.int_in_range(0..=60_000)?;
    let payload = Payload::unsaid(bytes / MOST_PACKETS * MOST_PACKETS + number);
    Ok(Box::new(Packet { frame: Frame { ip, l4, payload }, body: None }))
}

/// A chain of arbitrary elements; those that cannot be built are left out.
fn chain(now: Time, input: &mut Unstructured) -> Result<Chain> {
    let mut parts: Vec<Box<dyn Element>> = Vec::new();
    for _ in 0..input.int_in_range(0..=MOST_ELEMENTS)? {
        if input.ratio(1, 8)? {
            parts.push(Box::new(Gate::new()));
        } else if input.ratio(1, 8)? {
            parts.push(Box::new(Nat::new(&[1, 2].map(|n| IpAddr::from([10, 0, 0, n])))));
        } else {
            let value = table("element", input.choose(&elements())?, input)?;
            parts.extend(build(&value, input.arbitrary()?, "link/fuzz/uplink/0", now).ok());
        }
    }
    let indices: Vec<usize> = (0..parts.len()).collect();
    let up: Vec<usize> = indices.iter().copied().filter(|index| index % 3 != 0 || index % 2 == 0).collect();
    let down: Vec<usize> = indices.iter().rev().copied().filter(|index| index % 3 != 1).collect();
    Ok(Chain::new(parts, &up, &down))
}

fn table(what: &str, description: &link::Description, input: &mut Unstructured) -> Result<Value> {
    let mut table = Map::new();
    table.insert(what.into(), description.name.into());
    for parameter in &description.parameters {
        if parameter.required || input.arbitrary()? {
            table.insert(parameter.name.into(), value(parameter.kind, input)?);
        }
    }
    Ok(table.into())
}

/// Mostly what a parameter of this kind takes.
fn value(kind: &str, input: &mut Unstructured) -> Result<Value> {
    if input.ratio(1, 32)? {
        let odd = [json!(null), json!(-1), json!("word"), json!([]), json!({}), json!(1e300), json!(u64::MAX)];
        return Ok(input.choose(&odd)?.clone());
    }
    Ok(match kind {
        "rate" | "duration" | "bytes" | "packets" | "integer" => {
            let shift: u32 = input.int_in_range(0..=40)?;
            json!(u64::from(input.arbitrary::<u8>()?) << shift)
        }
        "ratio" => json!(f64::from(input.arbitrary::<u8>()?) / 255.0),
        "number" => json!(f64::from(input.arbitrary::<i16>()?) / 256.0),
        "flag" => json!(input.arbitrary::<bool>()?),
        "text" => json!(input.choose(&WORDS)?),
        "trace" => {
            let mut at = 0;
            let mut times = Vec::new();
            for _ in 0..input.int_in_range(0..=8)? {
                at += u64::from(input.arbitrary::<u8>()?);
                times.push(at);
            }
            json!(times)
        }
        "rate-trace" => json!(rows(input, |input| Ok([f64::from(input.arbitrary::<u8>()?) / 16.0]))?),
        "delay-trace" => json!(rows(input, |input| {
            Ok([f64::from(input.arbitrary::<u8>()?), f64::from(input.int_in_range(0..=100)?)])
        })?),
        "queue" => table("queue", input.choose(&queues())?, input)?,
        kind => unreachable!("a kind of parameter that is not known here: {kind}"),
    })
}

/// Rows of a trace: milliseconds that mostly begin at 0 and rise, and what is given for each.
fn rows<const N: usize>(
    input: &mut Unstructured,
    mut cells: impl FnMut(&mut Unstructured) -> Result<[f64; N]>,
) -> Result<Vec<Vec<f64>>> {
    let mut at = 0.0;
    let mut rows = Vec::new();
    for _ in 0..input.int_in_range(0..=8)? {
        rows.push([&[at][..], &cells(input)?].concat());
        at += f64::from(input.arbitrary::<u8>()?);
    }
    Ok(rows)
}
