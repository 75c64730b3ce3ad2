use super::Context;
use crate::flight::Flight;
use crate::parameter::{Duration, Flag, Text};
use crate::random::Normal;
use crate::{Direction, Element, Out, parameter};
use parameters::{Fault, fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// A propagation delay with optional jitter. Jitter is a process in time: it is constant during each step, so
    /// packets that arrive in the same step get the same jitter. With a correlation time it is an Ornstein–Uhlenbeck
    /// process, as in `rate-process`. Jitter can be negative, so packets may take less than `delay`. If packets may not
    /// overtake each other, their mean delay is more than `delay`, because each waits for the slowest one before it.
    "delay"
    struct Settings {
        /// The delay; with jitter, its mean before the order of packets is enforced.
        delay: Duration,
        /// Standard deviation of normal jitter, or half the width of uniform jitter. The total delay is never below 0.
        jitter: Duration = Duration(0),
        /// Distribution of the jitter: `normal` or `uniform`.
        distribution: Text = Text("normal".into()),
        /// Time after which the correlation of the jitter has fallen to 1/e; 0: steps are independent.
        correlation: Duration = Duration(0),
        /// Time during which the jitter is constant, at least 100 µs.
        step: Duration = Duration(1_000_000),
        /// Whether packets may overtake each other. If not, each packet leaves no earlier than the one before it.
        reorder: Flag = Flag(false),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let uniform = match settings.distribution.0.as_str() {
        "normal" => false,
        "uniform" => true,
        other => return Err(fault("distribution", format!("must be normal or uniform, not `{other}`"))),
    };
    let step = parameter::step("step", settings.step)?;
    let jitter = (settings.jitter.0 > 0).then(|| Jitter {
        normal: Normal::new(context.stream("jitter"), step, settings.correlation.nanos()),
        nanos: settings.jitter.0 as f64,
        uniform,
        step,
        until: context.start + step,
    });
    Ok(Box::new(Delay {
        nanos: settings.delay.nanos(),
        jitter,
        reorder: settings.reorder.0,
        last: [Time::from_nanos(i64::MIN); 2],
        flying: Flight::default(),
    }))
}

struct Delay {
    nanos: i64,
    jitter: Option<Jitter>,
    reorder: bool,
    /// When the last packet of a direction arrives.
    last: [Time; 2],
    flying: Flight<(Direction, Box<Packet>)>,
}

struct Jitter {
    normal: Normal,
    nanos: f64,
    uniform: bool,
    step: i64,
    until: Time,
}

impl Jitter {
    #[inline(never)] // most delays have none
    fn at(&mut self, now: Time) -> i64 {
        while self.until <= now {
            self.normal.step();
            self.until = self.until + self.step;
        }
        let x = self.normal.value();
        // Twice the normal distribution function, less 1, makes it uniform from −1 to 1.
        let x = if self.uniform { libm::erf(x * std::f64::consts::FRAC_1_SQRT_2) } else { x };
        (x * self.nanos) as i64
    }
}

impl Element for Delay {
    #[inline]
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        if self.deadline() <= now {
            self.wake(now, out);
        }
        let jitter = self.jitter.as_mut().map_or(0, |jitter| jitter.at(now));
        let mut arrives = now + (self.nanos + jitter).max(0);
        if !self.reorder {
            arrives = arrives.max(self.last[direction as usize]);
        }
        self.last[direction as usize] = arrives;
        self.flying.add(arrives, (direction, packet));
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        while let Some((direction, packet)) = self.flying.next(now) {
            out.send(direction, packet);
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.flying.deadline()
    }

    fn least_ns(&self) -> i64 {
        self.only_delays_ns().unwrap_or(0)
    }

    fn only_delays_ns(&self) -> Option<i64> {
        self.jitter.is_none().then_some(self.nanos)
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        packets.extend(self.flying.drain().map(|(at, (direction, packet))| (at, direction, packet)));
    }
}
