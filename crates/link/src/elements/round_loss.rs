use super::Context;
use crate::parameter::{Duration, Ratio};
use crate::random::Stream;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Random losses, each of which takes the rest of its round with it, as when a drop-tail queue overflows: the loss
    /// model of Padhye et al. (SIGCOMM 1998, §2). Rounds are told apart by time: packets that arrive within `rest` of a
    /// loss belong to its round. If the path has no rate limit, all packets of a round arrive at once, and any `rest`
    /// below the round-trip time separates rounds.
    "round-loss"
    struct Settings {
        /// Probability that a packet is lost if no earlier packet of its round was.
        ratio: Ratio,
        /// Time after a loss during which all packets are lost.
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
