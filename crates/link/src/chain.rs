use crate::in_flight::InFlight;
use crate::{Change, Direction, Dropped, Element, Out, QueueState, Unsupported};
use std::hint::select_unpredictable;
use wire::{Packet, Time};

/// Elements in a row, for each direction in its own order.
///
/// A chain's deadline is the earliest time at which a packet may leave it. What its elements do before that, such as
/// serving one packet after another in front of a delay, they do when the chain is next called: each at its own
/// deadline, in the order of time (ties: the element that was named first), so that lateness does not add up.
#[derive(Debug, Default)]
pub struct Chain {
    slots: Vec<Slot>,
    /// The elements that packets of a direction meet, in order.
    order: [Vec<u32>; 2],
    /// The first deadline of an element, and whose it is.
    earliest: Time,
    first: usize,
    /// No packet leaves before.
    exit: Time,
    /// Packets that are to go on behind the one that does, the last first.
    going: Vec<Going>,
    /// Reused: what an element gives back.
    given: Out,
}

/// A packet that goes on at this slot.
type Going = (u32, Direction, Box<Packet>);

#[derive(Debug)]
struct Slot {
    element: Box<dyn Element>,
    /// Its index among those that the chain was made of.
    number: u32,
    /// The slot after this one, for each direction.
    next: [u32; 2],
    /// What leaves this one takes at least so long to the end of the chain.
    behind_ns: i64,
    /// The element's, and when a packet may leave the chain for what it does then.
    deadline: Time,
    exit: Time,
}

/// An element's deadline, compared with what it was.
enum Asked {
    Same,
    Later,
    Earlier { deadline: Time, exit: Time },
}

/// Behind the last slot.
const END: u32 = u32::MAX;

impl Chain {
    /// Packets that travel up meet the elements with the indices `up`, in this order, those that travel down the
    /// elements `down`. An element may be in both: then it is shared by the directions.
    ///
    /// # Panics
    /// When an index is none of an element's or is twice in one list.
    pub fn new(elements: Vec<Box<dyn Element>>, up: &[usize], down: &[usize]) -> Chain {
        let order = [up, down].map(|list| list.iter().map(|&index| index as u32).collect::<Vec<_>>());
        for list in &order {
            let mut indices = list.iter().enumerate();
            assert!(indices.all(|(position, index)| !list[..position].contains(index)), "an element is met once");
        }
        let slots = elements.into_iter().zip(0..).map(|(element, number)| Slot::new(element, number)).collect();
        let mut chain = Chain { slots, order, ..Chain::default() };
        (0..2).for_each(|direction| chain.join(direction));
        chain.connect();
        chain
    }

    /// Has servers do the work of a delay right behind them, so that packets leave both at one deadline. As no element is
    /// between the two, in what order things happen at one time stays the same.
    fn join(&mut self, direction: usize) {
        for position in (1..self.order[direction].len()).rev() {
            let (server, delay) = (self.order[direction][position - 1], self.order[direction][position]);
            let is_shared = self.order[1 - direction].iter().any(|index| [server, delay].contains(index));
            if delay == server + 1
                && !is_shared
                && let Some(ns) = self.slots[delay as usize].element.only_delays_ns()
                && self.slots[server as usize].element.hold(ns)
            {
                self.slots.remove(delay as usize);
                self.order[direction].remove(position);
                self.order.iter_mut().flatten().filter(|index| **index > delay).for_each(|index| *index -= 1);
            }
        }
    }

    /// A chain whose directions share nothing.
    pub fn of(uplink: Vec<Box<dyn Element>>, downlink: Vec<Box<dyn Element>>) -> Chain {
        let up: Vec<usize> = (0..uplink.len()).collect();
        let down: Vec<usize> = (uplink.len()..uplink.len() + downlink.len()).collect();
        Chain::new(uplink.into_iter().chain(downlink).collect(), &up, &down)
    }

    /// Nanoseconds that every packet takes through it at least, whichever its direction.
    pub fn shortest_ns(&self) -> i64 {
        let least = |index: &u32| self.slots[*index as usize].element.least_ns();
        let through = |list: &Vec<u32>| list.iter().map(least).fold(0, i64::saturating_add);
        self.order.iter().map(through).min().unwrap_or(0)
    }

    /// Lets each slot know what is behind it.
    fn connect(&mut self) {
        let exits = [0, 1].map(|direction: usize| self.exits(direction));
        for (direction, list) in self.order.iter().enumerate() {
            let (mut next, mut behind_ns) = (END, 0_i64);
            for &index in list.iter().rev() {
                let slot = &mut self.slots[index as usize];
                slot.next[direction] = next;
                slot.behind_ns = slot.behind_ns.min(behind_ns);
                if slot.element.answers() {
                    behind_ns = behind_ns.min(exits[1 - direction][index as usize]);
                }
                behind_ns = behind_ns.saturating_add(slot.element.least_ns());
                next = index;
            }
        }
        for slot in &mut self.slots {
            (slot.deadline, slot.exit) = (Time::MAX, Time::MAX);
            slot.ask();
        }
        self.reckon();
    }

    /// How long what leaves each slot takes at least to the end of the chain.
    fn exits(&self, direction: usize) -> Vec<i64> {
        let mut exits = vec![0; self.slots.len()];
        let mut behind_ns = 0_i64;
        for &index in self.order[direction].iter().rev() {
            exits[index as usize] = behind_ns;
            behind_ns = behind_ns.saturating_add(self.slots[index as usize].element.least_ns());
        }
        exits
    }

    /// Elements do what they have to do up to `now`.
    #[inline(never)] // mostly they are woken for it
    fn run(&mut self, now: Time, out: &mut Out) {
        self.wake(now, out);
    }

    /// Servers do also what changes their queues and lets nothing leave yet.
    pub fn catch_up(&mut self, now: Time, out: &mut Out) {
        self.run(now, out);
        for index in 0..self.slots.len() {
            if self.slots[index].element.is_server() {
                self.call(now, index, out, |element, out| element.wake(now, out));
            }
        }
    }

    /// Calls the element `index`. What it gives back goes on at once, to the end, each packet before those that left an element
    /// after it.
    #[inline(always)]
    fn call<R>(
        &mut self,
        at: Time,
        index: usize,
        out: &mut Out,
        call: impl FnOnce(&mut dyn Element, &mut Out) -> R,
    ) -> R {
        let slot = &mut self.slots[index];
        if slot.next == [END; 2] {
            // As in nearly all chains of a rate and a delay.
            let dropped = out.dropped.len();
            let result = call(&mut *slot.element, out);
            if out.dropped.len() > dropped {
                note(&mut out.dropped[dropped..], at, slot.number);
            }
            let asked = slot.ask();
            if self.note_deadline(index, asked) {
                self.reckon();
            }
            return result;
        }
        let result = call(&mut *slot.element, &mut self.given);
        self.follow(at, index, out);
        result
    }

    /// To be called after a call of the element `index`.
    #[inline(never)]
    fn follow(&mut self, at: Time, index: usize, out: &mut Out) {
        let mut is_stale = false;
        let mut next = self.gather(at, index, &mut is_stale, out);
        while let Some((index, direction, packet)) = next.or_else(|| self.going.pop()) {
            next = match self.slots.get_mut(index as usize) {
                Some(slot) => {
                    slot.element.push(at, direction, packet, &mut self.given);
                    self.gather(at, index as usize, &mut is_stale, out)
                }
                None => {
                    out.send(direction, packet);
                    None
                }
            };
        }
        if is_stale {
            self.reckon();
        }
    }

    /// Notes the deadline of the element `index`. Says whether what is first is to be looked for anew.
    #[inline(always)]
    fn note_deadline(&mut self, index: usize, asked: Asked) -> bool {
        match asked {
            Asked::Same => false,
            Asked::Later => true,
            Asked::Earlier { deadline, exit } => {
                // Nothing else can have become the first.
                self.exit = self.exit.min(exit);
                if (deadline, index) < (self.earliest, self.first) {
                    (self.earliest, self.first) = (deadline, index);
                }
                false
            }
        }
    }

    /// Takes what the element `index` gave back: gives the first packet, and leaves those behind it to `going`.
    #[inline]
    fn gather(&mut self, at: Time, index: usize, is_stale: &mut bool, out: &mut Out) -> Option<Going> {
        let asked = self.slots[index].ask();
        *is_stale |= self.note_deadline(index, asked);
        let slot = &self.slots[index];
        if !self.given.dropped.is_empty() {
            note(&mut self.given.dropped, at, slot.number);
            out.dropped.append(&mut self.given.dropped);
        }
        let (mut direction, mut packet) = self.given.sent.pop()?;
        while let Some(earlier) = self.given.sent.pop() {
            self.going.push((slot.next[direction as usize], direction, packet));
            (direction, packet) = earlier;
        }
        Some((slot.next[direction as usize], direction, packet))
    }

    /// Looks for the first deadline, and for the first time at which a packet may leave: to be called when one is later.
    #[inline]
    fn reckon(&mut self) {
        let (mut earliest, mut first, mut exit) = (Time::MAX, 0, Time::MAX);
        for (index, slot) in self.slots.iter().enumerate() {
            // Nobody can tell whose turn it is: a branch would often be guessed wrong.
            (earliest, first) =
                select_unpredictable(slot.deadline < earliest, (slot.deadline, index), (earliest, first));
            exit = exit.min(slot.exit);
        }
        (self.earliest, self.first, self.exit) = (earliest, first, exit);
    }

    #[inline(always)]
    fn enter(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        match self.order[direction as usize].first() {
            Some(&first) => {
                self.call(now, first as usize, out, |element, out| element.push(now, direction, packet, out));
                if self.earliest <= now {
                    self.run(now, out);
                }
            }
            None => out.send(direction, packet),
        }
    }

    /// Puts the elements of `new` in the place of these. What waits for its turn to be served, or would have come to,
    /// meets the new ones, in order; what is behind the last server is in flight and leaves when it would have left
    /// the element that it is in. Nothing overtakes it.
    fn replace(&mut self, now: Time, new: Chain, out: &mut Out) {
        let mut old = std::mem::replace(self, new);
        let mut in_flight = InFlight::default();
        let mut again = Vec::new();
        let mut taken = Vec::new();
        for list in &old.order {
            let is_server = |&index: &u32| old.slots[index as usize].element.is_server();
            let last_server = list.iter().rposition(is_server);
            for (position, &index) in list.iter().enumerate().rev() {
                old.slots[index as usize].element.take(&mut taken);
                // Servers know when leaves what they hold in the place of an element behind them.
                let is_behind = last_server.is_none_or(|server| position >= server);
                for (leaves, direction, packet) in taken.drain(..) {
                    if is_behind && leaves < Time::MAX {
                        in_flight.add(leaves.max(now), direction, packet);
                    } else {
                        again.push((direction, packet));
                    }
                }
            }
        }
        if !in_flight.is_empty() {
            self.append(Box::new(in_flight));
        }
        for (direction, packet) in again {
            self.enter(now, direction, packet, out);
        }
    }

    /// An element that packets of both directions meet last.
    fn append(&mut self, element: Box<dyn Element>) {
        let index = self.slots.len() as u32;
        self.slots.push(Slot::new(element, index));
        self.order.iter_mut().for_each(|list| list.push(index));
        self.connect();
    }

    fn apply(&mut self, now: Time, mut change: Change, out: &mut Out) -> Result<(), Unsupported> {
        if let Change::Profile(new) = change {
            self.replace(now, *new, out);
            return Ok(());
        }
        for index in 0..self.slots.len() {
            let result = self.call(now, index, out, |element, out| element.change(now, change, out));
            self.run(now, out);
            match result {
                Ok(()) => return Ok(()),
                Err(Unsupported(back)) => change = back,
            }
        }
        Err(Unsupported(change))
    }
}

impl Slot {
    fn new(element: Box<dyn Element>, number: u32) -> Slot {
        Slot { element, number, next: [END; 2], behind_ns: i64::MAX, deadline: Time::MAX, exit: Time::MAX }
    }

    /// Asks the element for its deadline.
    #[inline(always)]
    fn ask(&mut self) -> Asked {
        let (before, deadline) = (self.deadline, self.element.deadline());
        if deadline == before {
            return Asked::Same;
        }
        let exit = deadline + self.behind_ns;
        (self.deadline, self.exit) = (deadline, exit);
        if deadline > before { Asked::Later } else { Asked::Earlier { deadline, exit } }
    }
}

/// Says when and by which element of a chain these were dropped.
#[cold]
fn note(dropped: &mut [Dropped], at: Time, element: u32) {
    dropped.iter_mut().for_each(|dropped| (dropped.at, dropped.element) = (at, element));
}

impl Element for Chain {
    #[inline(always)] // every packet passes here
    fn push(&mut self, now: Time, direction: Direction, packet: Box<Packet>, out: &mut Out) {
        if self.earliest <= now {
            self.run(now, out);
        }
        self.enter(now, direction, packet, out);
    }

    #[inline(always)] // nearly every packet leaves so
    fn wake(&mut self, now: Time, out: &mut Out) {
        while self.earliest <= now && self.earliest < Time::MAX {
            let (at, first) = (self.earliest, self.first);
            self.call(at, first, out, |element, out| element.wake(at, out));
        }
    }

    #[inline]
    fn deadline(&self) -> Time {
        self.exit
    }

    /// [`Change::Profile`] replaces the elements; any other change goes to the first element that takes it.
    fn change(&mut self, now: Time, change: Change, out: &mut Out) -> Result<(), Unsupported> {
        self.catch_up(now, out);
        let result = self.apply(now, change, out);
        self.reckon();
        result
    }

    fn take(&mut self, packets: &mut Vec<(Time, Direction, Box<Packet>)>) {
        for &index in self.order.iter().flat_map(|list| list.iter().rev()) {
            self.slots[index as usize].element.take(packets);
        }
        self.slots.iter_mut().for_each(|slot| _ = slot.ask());
        self.reckon();
    }

    fn queues<'a>(&'a self, states: &mut Vec<QueueState<'a>>) {
        self.slots.iter().for_each(|slot| slot.element.queues(states));
    }

    fn answered(&self) -> [u64; 2] {
        let answered = self.slots.iter().map(|slot| slot.element.answered());
        answered.fold([0, 0], |[up, down], [more_up, more_down]| [up + more_up, down + more_down])
    }

    fn is_server(&self) -> bool {
        self.slots.iter().any(|slot| slot.element.is_server())
    }
}
