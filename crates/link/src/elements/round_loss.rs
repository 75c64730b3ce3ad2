use super::Context;
use crate::parameter::{Duration, Ratio};
use crate::random::Stream;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Packets are lost by chance, and with each all that follow in its round, as at the end of a full queue: the losses of
    /// Padhye et al. (SIGCOMM 1998, §2). A round is known by time: what comes within `rest` after a loss belongs to it. On a
    /// path without a rate the packets of a round come at one instant, and anything less than the round-trip time parts them.
    "round-loss"
    struct Settings {
        /// Probability that a packet is lost, if none of its round was before.
        ratio: Ratio,
        /// Time after a loss in which what comes is lost too.
        rest: Duration,
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let Settings { ratio, rest } = settings;
    Ok(Box::new(RoundLoss {
        ratio: ratio.0,
        rest_ns: rest.nanos(),
        over: [Time::default(); 2],
        streams: context.streams(),
    }))
}

struct RoundLoss {
    ratio: f64,
    rest_ns: i64,
    /// When a round that lost a packet is over, by direction.
    over: [Time; 2],
    streams: [Stream; 2],
}

impl Element for RoundLoss {
    #[inline]
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        let over = &mut self.over[direction as usize];
        if now < *over {
            out.drop(direction, packet, Reason::Loss);
        } else if self.streams[direction as usize].chance(self.ratio) {
            *over = now + self.rest_ns;
            out.drop(direction, packet, Reason::Loss);
        } else {
            out.send(direction, packet);
        }
    }
}
