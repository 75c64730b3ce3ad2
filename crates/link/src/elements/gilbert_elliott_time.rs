use super::Context;
use super::rate_markov::TwoStates;
use crate::parameter::{Duration, Ratio};
use crate::random::Stream;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Packets are lost in bursts: a channel with a good and a bad state, each with an exponential holding time. The
    /// initial state is drawn from the stationary distribution. It evolves with time, not with packets.
    "gilbert-elliott-time"
    struct Settings {
        /// Mean time in the good state, at least 100 µs.
        good_time: Duration,
        /// Mean time in the bad state, at least 100 µs.
        bad_time: Duration,
        /// Share of packets that are lost in the good state.
        good_loss: Ratio = Ratio(0.0),
        /// Share of packets that are lost in the bad state.
        bad_loss: Ratio = Ratio(1.0),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    if settings.bad_loss < settings.good_loss {
        return Err(fault("bad_loss", "is less than `good_loss`"));
    }
    let Settings { good_time, bad_time, good_loss, bad_loss } = settings;
    let states = TwoStates::new(context, "states", [("good_time", good_time), ("bad_time", bad_time)])?;
    Ok(Box::new(Fading { states, loss: [good_loss.0, bad_loss.0], streams: context.streams() }))
}

struct Fading {
    states: TwoStates,
    /// Of each state, good and bad.
    loss: [f64; 2],
    /// Of each direction.
    streams: [Stream; 2],
}

impl Element for Fading {
    #[inline]
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        while self.states.until <= now {
            self.states.advance();
        }
        if self.streams[direction as usize].chance(self.loss[self.states.state]) {
            out.drop(direction, packet, Reason::Loss);
        } else {
            out.send(direction, packet);
        }
    }
}
