//! Which segments a middlebox meddles with, as scenarios name them.

use crate::Direction;
use crate::parameter::Text;
use parameters::{Fault, fault};
use wire::Flags;

/// Segments by what they are for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Segments {
    All,
    Syn,
    SynAck,
    /// Those without SYN.
    Data,
}

/// Segments by where they go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Directions(Option<Direction>);

impl Segments {
    pub fn read(text: &Text) -> Result<Segments, Fault> {
        let all =
            [("all", Segments::All), ("syn", Segments::Syn), ("syn-ack", Segments::SynAck), ("data", Segments::Data)];
        one_of("segments", &text.0, &all)
    }

    pub fn include(self, flags: Flags) -> bool {
        let (syn, ack) = (flags.has(Flags::SYN), flags.has(Flags::ACK));
        match self {
            Segments::All => true,
            Segments::Syn => syn && !ack,
            Segments::SynAck => syn && ack,
            Segments::Data => !syn,
        }
    }
}

impl Directions {
    pub fn read(text: &Text) -> Result<Directions, Fault> {
        let all = [
            ("both", Directions(None)),
            ("up", Directions(Some(Direction::Up))),
            ("down", Directions(Some(Direction::Down))),
        ];
        one_of("direction", &text.0, &all)
    }

    pub fn include(self, direction: Direction) -> bool {
        self.0.is_none_or(|only| only == direction)
    }
}

/// What the word of a parameter stands for.
pub(crate) fn one_of<T: Copy>(parameter: &str, word: &str, all: &[(&str, T)]) -> Result<T, Fault> {
    let found = all.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    found.ok_or_else(|| {
        let known = all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        fault(parameter, format!("there is no `{word}`, only {known}"))
    })
}
