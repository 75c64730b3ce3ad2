use super::Context;
use crate::flight::Flight;
use crate::parameter::{Count, Duration, Flag, Ratio};
use crate::random::Grid;
use crate::{Direction, Element, Out, Reason, parameter};
use parameters::{Fault, fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Link-layer retransmission: packets that the radio corrupts are sent again, so loss becomes delay. The defaults
    /// are hybrid ARQ of LTE and HSPA (3GPP TS 36.321 §5.3.2: 8 ms between transmissions, at most 4). With `back_off`
    /// it is Wi-Fi's retransmission (IEEE 802.11 §10.3: a contention window that doubles). Errors depend on time: all
    /// that is sent during one `step` fails or succeeds together, whoever sends it. A packet is lost if its last try
    /// fails, which happens to a share of error_ratio · retry_error_ratio^(tries − 1). The capacity that
    /// retransmissions use is not modelled.
    "arq"
    struct Settings {
        /// Share of blocks that fail at the first try.
        error_ratio: Ratio,
        /// Share that fails at each further try. It is smaller if receivers combine tries. If left out, the same as
        /// `error_ratio`.
        retry_error_ratio: Option<Ratio> = None,
        /// Maximum number of tries, the first one included, from 1 to 100.
        tries: Count = Count(4),
        /// Time from one try to the next, without back-off; at least `step`.
        round_trip: Duration = Duration(8_000_000),
        /// Maximum random back-off before the second try. It doubles with each further try.
        back_off: Duration = Duration(0),
        /// Maximum that the back-off doubles to.
        longest_back_off: Duration = Duration(10_000_000),
        /// Whether later packets wait for a packet that is being retransmitted, as in RLC's acknowledged mode (3GPP TS
        /// 36.322 §5.1.3). If not, they overtake it.
        in_order: Flag = Flag(true),
        /// Time during which the radio channel is constant, at least 100 µs: a transmission time interval.
        step: Duration = Duration(1_000_000),
    }
}

const MOST_TRIES: u64 = 100;

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let Settings { error_ratio, retry_error_ratio, tries, round_trip, back_off, longest_back_off, in_order, step } =
        settings;
    if !(1..=MOST_TRIES).contains(&tries.0) {
        return Err(fault("tries", format!("must be from 1 to {MOST_TRIES}")));
    }
    let step_ns = parameter::step("step", step)?;
    if round_trip < step {
        return Err(fault("round_trip", "is shorter than `step`: the radio would be as it was"));
    }
    if longest_back_off < back_off {
        return Err(fault("longest_back_off", "is shorter than `back_off`"));
    }
    Ok(Box::new(Arq {
        error_ratios: [error_ratio.0, retry_error_ratio.unwrap_or(error_ratio).0],
        tries: tries.0,
        round_trip: round_trip.nanos(),
        back_off: back_off.nanos(),
        longest_back_off: longest_back_off.nanos(),
        in_order: in_order.0,
        radios: context.streams().map(|mut stream| Grid::new(stream.word(), context.start, step_ns)),
        last: [Time::from_nanos(i64::MIN); 2],
        flying: Flight::default(),
    }))
}

struct Arq {
    /// Of the first try and of the others.
    error_ratios: [f64; 2],
    tries: u64,
    round_trip: i64,
    back_off: i64,
    longest_back_off: i64,
    in_order: bool,
    /// Of each direction.
    radios: [Grid; 2],
    /// When the last packet of a direction is through.
    last: [Time; 2],
    /// With whether it is received.
    flying: Flight<(Direction, Box<Packet>, bool)>,
}

impl Arq {
    /// When a packet that is first sent `now` is received or given up, and whether it is received.
    fn fate(&self, now: Time, radio: &Grid) -> (Time, bool) {
        let (mut at, mut window) = (now, self.back_off);
        for number in 0..self.tries {
            let slot = radio.slot(at);
            if radio.uniform(slot, 0) >= self.error_ratios[usize::from(number > 0)] {
                return (at, true);
            }
            let waits = (radio.uniform(slot, 1) * window.min(self.longest_back_off) as f64) as i64;
            at = at + self.round_trip + waits;
            window = window.saturating_mul(2);
        }
        (at, false)
    }
}

impl Element for Arq {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        self.wake(now, out);
        let (mut leaves, is_received) = self.fate(now, &self.radios[direction as usize]);
        if self.in_order {
            let last = &mut self.last[direction as usize];
            leaves = leaves.max(*last);
            *last = leaves;
        }
        if leaves == now && is_received {
            out.send(direction, packet);
        } else {
            self.flying.add(leaves, (direction, packet, is_received));
        }
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        while let Some((direction, packet, is_received)) = self.flying.next(now) {
            if is_received {
                out.send(direction, packet);
            } else {
                out.drop(direction, packet, Reason::GivenUp);
            }
        }
    }

    fn deadline(&self) -> Time {
        self.flying.deadline()
    }

    /// What is still tried when another link takes over is received in time there: the base station hands it on.
    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.flying.drain().map(|(at, (direction, packet, _))| (at, direction, packet)));
    }
}
