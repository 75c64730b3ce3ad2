use super::Context;
use crate::parameter::{Bytes, Duration};
use crate::{Direction, Element, Out};
use parameters::{Fault, fault, parameters};
use wire::{Packet, Time};

parameters! {
    /// A radio that sleeps and takes time to wake up. Packets that arrive while it is idle wait until it is connected
    /// (RRC, 3GPP TS 36.331 and 25.331). After `idle_after` without a packet it becomes idle again; it starts idle.
    /// With `shared_after` it is a 3G radio, which first falls back from its dedicated channel (DCH) to a shared one
    /// (FACH). Small packets pass on the shared channel; larger ones wait for the dedicated one. Qian et al. (IMC 2010)
    /// measured 2 s from idle, 1.5 s from the shared channel, and inactivity timers of 5 s and 12 s in a carrier's 3G
    /// network; Huang et al. (MobiSys 2012) measured 260 ms and 11.6 s in LTE. Both directions use the same radio: give
    /// the element a name in `shared`.
    "promotion"
    struct Settings {
        /// Time from idle to connected.
        takes: Duration,
        /// Inactivity after which it becomes idle. With `shared_after`, this counts from the fall-back to the shared
        /// channel.
        idle_after: Duration,
        /// Inactivity after which it falls back to the shared channel. If left out, there is no shared channel.
        shared_after: Option<Duration> = None,
        /// Time from the shared channel to the dedicated one.
        shared_takes: Duration = Duration(0),
        /// Size of the largest packet that passes on the shared channel.
        shared_bytes: Bytes = Bytes(0),
    }
}

pub(super) fn make(settings: Settings, context: &Context) -> Result<Box<dyn Element>, Fault> {
    let of_shared = [("shared_takes", settings.shared_takes.0), ("shared_bytes", settings.shared_bytes.0)];
    if settings.shared_after.is_none()
        && let Some((name, _)) = of_shared.into_iter().find(|(_, value)| *value > 0)
    {
        return Err(fault(name, "has no effect without `shared_after`: there is no shared channel"));
    }
    Ok(Box::new(Promotion {
        settings,
        channel: Channel::None,
        active: context.start,
        until: None,
        waiting: Vec::new(),
    }))
}

struct Promotion {
    settings: Settings,
    channel: Channel,
    /// When it was last used, or came to be.
    active: Time,
    /// When the promotion that goes on is done.
    until: Option<Time>,
    /// In the order in which they came.
    waiting: Vec<(Direction, Box<Packet>)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Channel {
    None,
    Shared,
    Dedicated,
}

impl Promotion {
    /// The channel that is left after the inactivity up to `now`.
    fn settle(&mut self, now: Time) {
        let Settings { idle_after, shared_after, .. } = &self.settings;
        if let (Channel::Dedicated, Some(shared_after)) = (self.channel, shared_after)
            && now - self.active >= shared_after.nanos()
        {
            self.channel = Channel::Shared;
            self.active = self.active + shared_after.nanos();
        }
        let is_lowest = self.channel == Channel::Shared || shared_after.is_none();
        if is_lowest && now - self.active >= idle_after.nanos() {
            self.channel = Channel::None;
        }
    }
}

impl Element for Promotion {
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        self.wake(now, out);
        if self.until.is_none() {
            self.settle(now);
            let takes = match self.channel {
                Channel::Dedicated => None,
                Channel::Shared if u64::from(packet.frame.wire_len()) <= self.settings.shared_bytes.0 => None,
                Channel::Shared => Some(self.settings.shared_takes),
                Channel::None => Some(self.settings.takes),
            };
            let Some(takes) = takes else {
                self.active = now;
                out.send(direction, packet);
                return;
            };
            self.until = Some(now + takes.nanos());
        }
        self.waiting.push((direction, packet));
    }

    fn wake(&mut self, now: Time, out: &mut Out) {
        if let Some(until) = self.until.filter(|until| *until <= now) {
            (self.channel, self.active, self.until) = (Channel::Dedicated, until, None);
            out.sent.append(&mut self.waiting);
        }
    }

    fn deadline(&self) -> Time {
        self.until.unwrap_or(Time::MAX)
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        let until = self.deadline();
        packets.extend(self.waiting.drain(..).map(|(direction, packet)| (until, direction, packet)));
    }
}
