use crate::Chain;
use std::net::IpAddr;
use wire::{Direction, Packet, Time};

/// What an element gives back during a call.
#[derive(Debug, Default)]
pub struct Out {
    /// Packets that leave the element now, in order.
    pub sent: Vec<(Direction, Box<Packet>)>,
    /// Packets that end here, and why.
    pub dropped: Vec<Dropped>,
}

/// A packet that ends.
#[derive(Debug)]
pub struct Dropped {
    /// The packet.
    pub packet: Box<Packet>,
    /// Where it was going.
    pub direction: Direction,
    /// Why it ends.
    pub reason: Reason,
    /// When a [`Chain`] dropped it: not after the call that gave it back.
    pub at: Time,
    /// Which element of the chain did: an index into the elements that it was made of.
    pub element: u32,
}

impl Out {
    /// The packet leaves.
    #[inline]
    pub fn send(&mut self, direction: Direction, packet: Box<Packet>) {
        self.sent.push((direction, packet));
    }

    /// The packet ends.
    pub fn drop(&mut self, direction: Direction, packet: Box<Packet>, reason: Reason) {
        self.dropped.push(Dropped { packet, direction, reason, at: Time::default(), element: 0 });
    }
}

/// Why a packet ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// No room in a queue.
    QueueFull,
    /// An active queue management threw it out.
    QueueManaged,
    /// Lost by chance.
    Loss,
    /// The link layer gave up after its last try.
    GivenUp,
    /// The device was changing to another cell.
    Handover,
    /// The radio was gone.
    Blackout,
    /// The interface was gone.
    Detached,
    /// Nobody has that address.
    Unreachable,
    /// Larger than what follows takes.
    TooBig,
    /// A firewall let it not pass.
    Filtered,
    /// A translator has no mapping for it, or no longer has one.
    NoMapping,
}

impl Reason {
    /// The word for it in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Reason::QueueFull => "queue-full",
            Reason::QueueManaged => "queue-managed",
            Reason::Loss => "loss",
            Reason::GivenUp => "given-up",
            Reason::Handover => "handover",
            Reason::Blackout => "blackout",
            Reason::Detached => "detached",
            Reason::Unreachable => "unreachable",
            Reason::TooBig => "too-big",
            Reason::Filtered => "filtered",
            Reason::NoMapping => "no-mapping",
        }
    }
}

/// What a timeline does to an element.
#[derive(Debug)]
pub enum Change {
    /// Packets vanish from now on; nobody is told.
    Blackout,
    /// Packets wait from now on.
    Hold,
    /// The interface is gone: packets vanish from now on.
    Detach,
    /// It is there again; a blackout or a hold goes on.
    Attach,
    /// The end of a blackout or a hold; what waited leaves now.
    Restore,
    /// The public address is this from now on; the private one stays.
    Rebind(IpAddr),
    /// These elements from now on, in the place of those of the chain.
    Profile(Box<Chain>),
}

/// The element has no use for a change, and gives it back.
#[derive(Debug)]
pub struct Unsupported(pub Change);

/// A queue and what it holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueState<'a> {
    /// Full name of the element that serves it, as it was built.
    pub element: &'a str,
    /// Bytes that wait, without the packet that is being sent.
    pub bytes: u64,
    /// Packets that wait, without the one that is being sent.
    pub packets: u64,
    /// How long the packet that left the queue last had waited in it.
    pub delay_ns: i64,
    /// Packets that left it marked rather than dropped, so far.
    pub marked: u64,
}

/// What a packet meets. Bidirectional: some elements share state between the directions.
///
/// Calls come in the order of time. An element whose deadline does not lie after `now` first does what it would have
/// done: at one instant packets leave before others come.
pub trait Element: Send {
    /// A packet arrives, travelling in `direction`.
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out);

    /// Its deadline has come. Called early, nothing leaves.
    fn wake(&mut self, now: Time, out: &mut Out) {
        let _ = (now, out);
    }

    /// When it wants to be woken; [`Time::MAX`] for never. No packet leaves before.
    fn deadline(&self) -> Time {
        Time::MAX
    }

    /// Nanoseconds that every packet takes through it at least, however it changes.
    fn least_ns(&self) -> i64 {
        0
    }

    /// Nanoseconds that it holds every packet, where that is all that it does.
    fn only_delays_ns(&self) -> Option<i64> {
        None
    }

    /// From now on holds what leaves it for so many nanoseconds more, in the place of an element behind it; says whether
    /// it does. Its own work is then done late, when something leaves or comes.
    fn hold(&mut self, ns: i64) -> bool {
        let _ = ns;
        false
    }

    /// The timeline changes something.
    ///
    /// # Errors
    /// [`Unsupported`] where the change means nothing to this element.
    fn change(&mut self, now: Time, change: Change, out: &mut Out) -> Result<(), Unsupported> {
        let _ = (now, out);
        Err(Unsupported(change))
    }

    /// Gives up the packets that it holds, those first that would have left first, with the time at which each would
    /// have left; [`Time::MAX`] where that is not known.
    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        let _ = packets;
    }

    /// Adds the state of its queues to `states`, as it was after the last call.
    fn queues<'a>(&'a self, states: &mut Vec<QueueState<'a>>) {
        let _ = states;
    }

    /// Whether packets queue here because only so many pass in a time.
    fn is_server(&self) -> bool {
        false
    }

    /// Whether what comes to it may have an answer, which leaves it the other way.
    fn answers(&self) -> bool {
        false
    }

    /// Bytes that it took in the server's place and bytes that it sent in it: of a host that stands in the way.
    fn answered(&self) -> [u64; 2] {
        [0, 0]
    }

    /// Whether it is of no use where packets of one direction alone pass.
    fn sees_both_directions(&self) -> bool {
        false
    }
}

impl std::fmt::Debug for dyn Element {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        f.write_str("Element")
    }
}
