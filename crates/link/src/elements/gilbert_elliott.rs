use super::Context;
use crate::parameter::Ratio;
use crate::random::Stream;
use crate::{Direction, Element, Out, Reason};
use parameters::{Fault, fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// Packets are lost in bursts: the model of Gilbert (1960) and Elliott (1963), a channel with a good and a bad
    /// state that may change before every packet. The initial state is drawn from the stationary distribution: bad with
    /// probability p/(p+r). For a channel that evolves with time, see `gilbert-elliott-time`.
    "gilbert-elliott"
    struct Settings {
        /// Probability of changing from good to bad.
        p: Ratio,
        /// Probability of changing from bad to good.
        r: Ratio,
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
    let (p, r) = (settings.p.0, settings.r.0);
    let bad_share = if p + r > 0.0 { p / (p + r) } else { 0.0 };
    let channels = context.streams().map(|mut stream| Channel { bad: stream.chance(bad_share), stream });
    Ok(Box::new(GilbertElliott { change: [p, r], loss: [settings.good_loss.0, settings.bad_loss.0], channels }))
}

struct GilbertElliott {
    /// Of each state, good and bad.
    change: [f64; 2],
    loss: [f64; 2],
    /// Of each direction.
    channels: [Channel; 2],
}

struct Channel {
    bad: bool,
    stream: Stream,
}

impl Element for GilbertElliott {
    #[inline]
    fn push(&mut self, _now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        let channel = &mut self.channels[direction as usize];
        channel.bad ^= channel.stream.chance(self.change[usize::from(channel.bad)]);
        if channel.stream.chance(self.loss[usize::from(channel.bad)]) {
            out.drop(direction, packet, Reason::Loss);
        } else {
            out.send(direction, packet);
        }
    }
}
