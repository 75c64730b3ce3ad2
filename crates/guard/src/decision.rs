use std::fmt;

/// What the guard found of a path, and on what evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// What it found.
    pub verdict: Verdict,
    /// What made it look.
    pub cause: Cause,
    /// How long nothing had moved.
    pub still_ns: i64,
    /// For how long that would have been no wonder.
    pub patience_ns: i64,
    /// Probes sent over the path since it became suspect, or since it was tried.
    pub probes: u32,
    /// How many of them were answered.
    pub answers: u32,
    /// In what time they had to be; of a return: for how long they had to.
    pub within_ns: i64,
    /// What its radio heard, in dBm; 0 where that was no reason.
    pub heard_dbm: i32,
}

/// What the guard found of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Something should move, and does not: probes go out.
    Suspect,
    /// It moves again, or answered.
    Cleared,
    /// It is not to be used.
    Suspended,
    /// It may be used again.
    Resumed,
}

/// Why a path is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Data is outstanding, and none of it is acknowledged.
    Unacknowledged,
    /// Data came, and comes no more.
    Silent,
    /// Data comes over other paths only.
    Overtaken,
    /// No other path is there.
    Alone,
    /// Its radio hears too little.
    Weak,
    /// The host lost its address.
    Lost,
    /// Its interface has no carrier.
    NoCarrier,
    /// A guard that ended had left it.
    Found,
    /// Nobody is left to ask.
    Unasked,
    /// A quicker path stands behind it.
    Ahead,
}

impl Verdict {
    /// Its name in the table `signals`.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Suspect => "guard-suspect",
            Verdict::Cleared => "guard-cleared",
            Verdict::Suspended => "guard-suspended",
            Verdict::Resumed => "guard-resumed",
        }
    }
}

/// The evidence, as a clause.
impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |ns: i64| ns / 1_000_000;
        let Decision { verdict, cause, still_ns, patience_ns, probes, answers, within_ns, heard_dbm } = *self;
        if verdict == Verdict::Resumed {
            return match cause {
                Cause::Alone => write!(f, "{answers} of {probes} probes answered, and no other path is good"),
                Cause::Unasked => write!(f, "no connection is left, and nobody to ask"),
                _ => write!(f, "{answers} probes answered in a row, over at least {} ms", ms(within_ns)),
            };
        }
        match cause {
            Cause::Unacknowledged => write!(f, "nothing acknowledged for {} ms", ms(still_ns))?,
            Cause::Lost => return write!(f, "the host lost its address"),
            Cause::NoCarrier => return write!(f, "its interface has no carrier"),
            Cause::Weak => return write!(f, "its radio hears {heard_dbm} dBm only"),
            Cause::Ahead => return write!(f, "a quicker path that is used again stands behind it"),
            Cause::Found => return write!(f, "an earlier guard had left it"),
            Cause::Silent | Cause::Alone | Cause::Unasked => write!(f, "nothing came for {} ms", ms(still_ns))?,
            Cause::Overtaken => write!(f, "nothing came for {} ms while another path delivered", ms(still_ns))?,
        }
        match verdict {
            Verdict::Suspect => write!(f, ", of which {} ms are expected", ms(patience_ns)),
            Verdict::Cleared if answers == 0 => write!(f, ", then data moved again"),
            _ => write!(f, ", {answers} of {probes} probes answered within {} ms", ms(within_ns)),
        }
    }
}
