//! What every segment may say.

use crate::bytes::be32;
use crate::mptcp::Dss;
use crate::options::{END, MPTCP, NO_OPERATION, PADDED_TIMESTAMPS, SACK, TIMESTAMPS};
use crate::{Options, SackBlocks};

/// What every segment may say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Brief {
    /// Sender's clock and the echo of the peer's.
    pub timestamps: Option<(u32, u32)>,
    /// Selective acknowledgements.
    pub sack: SackBlocks,
    /// Data sequence signal.
    pub dss: Option<Dss>,
    /// Whether there are MPTCP options besides, or malformed ones.
    pub signals: bool,
}

impl Options {
    /// What every segment may say, in one go: cheaper than [`Options::iter`] where little else is expected.
    pub fn brief(&self) -> Brief {
        let mut brief = Brief::default();
        brief.read(self);
        brief
    }
}

impl Brief {
    /// Adds what `options` say; [`Options::brief`] copies it once more.
    #[inline(always)] // every segment that comes passes here
    pub fn read(&mut self, options: &Options) {
        let mut rest = options.as_bytes();
        // How nearly all segments begin, and end.
        if let Some((head, after)) = rest.split_first_chunk::<12>()
            && head[..4] == PADDED_TIMESTAMPS
        {
            self.timestamps = Some((be32(head, 4), be32(head, 8)));
            rest = after;
        }
        if let Some((dss, after)) = Dss::read_usual([NO_OPERATION, MPTCP], rest) {
            self.dss = Some(dss);
            rest = after;
        }
        if !rest.is_empty() {
            self.read_others(rest);
        }
    }

    #[inline(never)] // seldom
    fn read_others(&mut self, mut rest: &[u8]) {
        while let Some((&kind, after)) = rest.split_first() {
            if kind == NO_OPERATION {
                rest = after;
                continue;
            }
            let len = after.first().map_or(0, |&len| usize::from(len));
            if kind == END || len < 2 || len > rest.len() {
                break;
            }
            let (option, others) = rest.split_at(len);
            rest = others;
            match (kind, &option[2..]) {
                (TIMESTAMPS, data) if len == 10 => self.timestamps = Some((be32(data, 0), be32(data, 4))),
                (MPTCP, data) => match Dss::read(data) {
                    Some(dss) => self.dss = Some(dss),
                    None => self.signals = true,
                },
                (SACK, data) if matches!(len, 10 | 18 | 26 | 34) => self.sack = SackBlocks::read(data),
                _ => {}
            }
        }
    }
}
