//! Datagrams: UDP flows by their 5-tuples, and QUIC connections by what all versions show (RFC 8999).
//!
//! A flow is looked up by its 5-tuple. Which connection a new one belongs to its first datagram says: by connection IDs of
//! long headers seen before, by the same 5-tuple or the same content at the other site, and, where it begins with no long
//! header as every QUIC connection does, by the only QUIC connection that its server has with its client.

mod clocks;
mod conversation;
mod crossing;
mod finish;
mod identity;
mod placing;

use super::finish::Captures;
use super::flows::{Key, direction};
use crate::Options;
use crate::report::Report;
pub(super) use conversation::Conversation;
use identity::{Header, Id, header};
use rustc_hash::FxHashMap;
use std::sync::Arc;
use tables::Diagnostic;
use wire::{Glimpse, Observation, Time};

/// Conversations that are kept at once; those that are idle longest make room.
const MOST_CONVERSATIONS: usize = 1 << 14;
/// So long nothing passed on a flow that makes room: NATs forget it, too (RFC 4787 §4.3).
const IDLE_NANOS: i64 = 120_000_000_000;
/// Room is looked for this often at most.
const SWEEP_NANOS: i64 = 10_000_000_000;
/// A flow of fewer datagrams is a look-up, a time, a discovery: counted, and no row.
const FEWEST: u64 = 10;
/// So many datagrams of a flow may be the first that another capture shows behind a NAT.
const OPENING: u64 = 16;

/// All that there are.
#[derive(Default)]
pub(super) struct Datagrams {
    flows: FxHashMap<Key, Flow>,
    latest: Option<(Key, Flow)>,
    conversations: Vec<Option<Box<Conversation>>>,
    free: Vec<u32>,
    /// QUIC connections by their IDs, and by the sites and endpoints of their servers.
    ids: FxHashMap<Id, u32>,
    /// Bit n: there is an ID of n bytes.
    lengths: u32,
    servers: FxHashMap<(u32, (u128, u16)), Vec<u32>>,
    /// Where several captures are given: the first datagrams of flows, by what they are known again by.
    openings: FxHashMap<u64, (u32, u32)>,
    swept: Option<Time>,
    few: Few,
    /// Datagrams of flows for which there was no room.
    refused: u64,
    /// Datagrams that a third site shows.
    copies: u64,
}

/// What is known of the captures: how many there are, and whether this one may show a packet several times.
#[derive(Clone, Copy)]
pub(super) struct Views {
    pub(super) sites: u32,
    pub(super) several: bool,
}

/// What has no rows.
#[derive(Default)]
struct Few {
    flows: u64,
    datagrams: u64,
}

/// A datagram on its way to its conversation.
struct Datagram<'a> {
    observation: &'a Observation,
    glimpse: &'a Glimpse,
    header: Header<'a>,
    /// It comes from the lower end of its key.
    from_low: bool,
}

/// A flow: where it belongs.
#[derive(Clone, Copy)]
struct Flow {
    conversation: u32,
    path: u32,
    /// None: a third site shows what two show already.
    end: Option<u8>,
    low_is_client: bool,
}

impl Datagrams {
    /// Takes a datagram; gives connections that had to make room. `sites` says how many captures there are.
    pub(super) fn observe(
        &mut self,
        observation: &Observation,
        (ports, glimpse): ((u16, u16), &Glimpse),
        (site, captures): (u32, Views),
        options: &Options,
    ) -> Vec<Conversation> {
        let sites = captures.sites;
        let (key, from_low) = Key::between(&observation.frame.ip, ports, site);
        let datagram =
            Datagram { observation, glimpse, header: header(glimpse, observation.frame.payload.len), from_low };
        let known = self.latest.filter(|(latest, _)| *latest == key).map(|(_, flow)| flow);
        let known = known.or_else(|| self.flows.get(&key).copied());
        let mut gone = Vec::new();
        let flow = match known.filter(|flow| !self.begins_anew(*flow, &datagram.header)) {
            Some(flow) => flow,
            None => {
                if self.conversations.len() - self.free.len() >= MOST_CONVERSATIONS {
                    gone = self.make_room(observation.at);
                }
                let Some(flow) = self.assign(key, &datagram, sites, options) else {
                    self.refused += 1;
                    return gone;
                };
                self.flows.insert(key, flow);
                flow
            }
        };
        self.latest = Some((key, flow));
        let Some(end) = flow.end else {
            self.copies += 1;
            return gone;
        };
        let number = flow.conversation;
        let conversation = self.conversations[number as usize].as_mut().expect("a flow's");
        let by = direction(from_low == flow.low_is_client);
        if let Header::Long { version, destination, source } = datagram.header
            && conversation.is_quic
        {
            conversation.long_header(by, version, (destination, source));
            for id in [destination, source].into_iter().filter(Id::tells) {
                self.lengths |= 1 << id.len();
                self.ids.entry(id).or_insert(number);
            }
        }
        let passed = conversation.datagram(&datagram, (flow.path as usize, end.into()), by, captures.several);
        if sites > 1 && passed <= OPENING {
            self.openings.entry(glimpse.digest()).or_insert((number, flow.path));
        }
        gone
    }

    /// A long header with connection IDs of which none is the flow's: a connection that uses the ports of another.
    fn begins_anew(&self, flow: Flow, header: &Header) -> bool {
        let Header::Long { version: 1.., destination, source } = *header else { return false };
        let Some(one) = &self.conversations[flow.conversation as usize] else { return false };
        let is_known = |id: Id| id.tells() && self.ids.get(&id) == Some(&flow.conversation);
        flow.end.is_some() && (!one.is_quic || destination.tells() && !is_known(destination) && !is_known(source))
    }

    /// Finds where a new flow belongs, and makes it known there.
    fn assign(&mut self, key: Key, datagram: &Datagram, sites: u32, options: &Options) -> Option<Flow> {
        if let Some((conversation, path, low_is_client)) = self.elsewhere(key, datagram, sites) {
            return Some(self.settle(key, (conversation, Some(path)), low_is_client, (datagram, options)));
        }
        if let Some((conversation, low_is_client)) = self.same_connection(key, datagram) {
            return Some(self.settle(key, (conversation, None), low_is_client, (datagram, options)));
        }
        if sites > 1
            && let Some((conversation, end, low_is_client)) = self.other_interface(key, datagram, sites)
        {
            let one = self.conversations[conversation as usize].as_mut().expect("known");
            one.ends[end].as_mut().expect("captured").sites.push(key.site);
            return Some(self.settle(key, (conversation, None), low_is_client, (datagram, options)));
        }
        let conversation = match self.free.pop() {
            Some(index) => index,
            None if self.conversations.len() >= MOST_CONVERSATIONS => return None,
            None => {
                self.conversations.push(None);
                (self.conversations.len() - 1) as u32
            }
        };
        let is_quic = matches!(datagram.header, Header::Long { version: 1.., .. });
        let one = Conversation::new(datagram.observation, is_quic, (sites > 1, options.one_clock));
        self.conversations[conversation as usize] = Some(Box::new(one));
        Some(self.settle(key, (conversation, None), datagram.from_low, (datagram, options)))
    }

    /// Gives a flow its view of a path, a further one if none is named.
    fn settle(
        &mut self,
        key: Key,
        (conversation, path): (u32, Option<u32>),
        low_is_client: bool,
        (datagram, options): (&Datagram, &Options),
    ) -> Flow {
        let one = self.conversations[conversation as usize].as_mut().expect("known");
        let path = path.unwrap_or_else(|| one.add_path());
        let end = one.add_view(path as usize, key, low_is_client, (datagram.observation, options));
        one.keys.push(key);
        if one.is_quic {
            let server = if low_is_client { key.high } else { key.low };
            let numbers = self.servers.entry((key.site, server)).or_default();
            if !numbers.contains(&conversation) {
                numbers.push(conversation);
            }
        }
        Flow { conversation, path, end: end.map(|end| end as u8), low_is_client }
    }

    /// Takes out what has been idle.
    fn make_room(&mut self, now: Time) -> Vec<Conversation> {
        if self.swept.is_some_and(|swept| now - swept < SWEEP_NANOS) {
            return Vec::new();
        }
        self.swept = Some(now);
        let mut gone = Vec::new();
        for (index, slot) in self.conversations.iter_mut().enumerate() {
            if let Some(one) = slot.take_if(|one| now - one.last.at > IDLE_NANOS) {
                for key in &one.keys {
                    if self.flows.get(key).is_some_and(|flow| flow.conversation == index as u32) {
                        self.flows.remove(key);
                    }
                }
                self.free.push(index as u32);
                gone.push(*one);
            }
        }
        let conversations = &self.conversations;
        let is_there = |number: &u32| conversations[*number as usize].is_some();
        self.ids.retain(|_, number| is_there(number));
        self.openings.retain(|_, (number, _)| is_there(number));
        self.servers.retain(|_, numbers| {
            numbers.retain(is_there);
            !numbers.is_empty()
        });
        self.latest = None;
        gone
    }

    /// The rows of one that is over, if it has any.
    pub(super) fn report(
        &mut self,
        conversation: Conversation,
        captures: &Captures,
        options: &Options,
    ) -> Option<Report> {
        let datagrams = conversation.datagrams();
        if !conversation.is_quic && datagrams < FEWEST {
            self.few.flows += 1;
            self.few.datagrams += datagrams;
            return None;
        }
        Some(finish::report(conversation, captures, options))
    }

    /// Gives all that are left.
    pub(super) fn take(&mut self) -> Vec<Conversation> {
        self.flows.clear();
        std::mem::take(&mut self.conversations).into_iter().flatten().map(|one| *one).collect()
    }

    /// What is to be said of them all.
    pub(super) fn remarks(&self) -> Vec<Diagnostic> {
        let Few { flows, datagrams } = self.few;
        let few = format!(
            "{flows} UDP {} of fewer than {FEWEST} datagrams each: look-ups and the like are counted here and have no rows",
            if flows == 1 { "flow" } else { "flows" }
        );
        [
            ("few_datagrams", datagrams, few.into()),
            (
                "datagrams_left_out",
                self.refused,
                "datagrams of UDP flows beyond the first 16384 at once are left out".into(),
            ),
            (
                "translated_copies",
                self.copies,
                "datagrams show with other addresses, or in a third capture, what others show; they are left out"
                    .into(),
            ),
        ]
        .into_iter()
        .filter(|(_, count, _)| *count > 0)
        .map(|(diagnostic, count, message): (_, _, std::borrow::Cow<'static, str>)| Diagnostic {
            diagnostic,
            count: Some(count),
            message,
            capture: None::<Arc<str>>,
            ..Diagnostic::default()
        })
        .collect()
    }
}
