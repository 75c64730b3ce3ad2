//! Multipath TCP options, versions 1 (RFC 8684) and 0 (RFC 6824): one file per option.
//!
//! All share TCP's kind 30; the upper four bits of the third byte say which it is (RFC 8684 §3, figure 3):
//!
//! ```text
//!  0                   1                   2                   3
//!  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//! +---------------+---------------+-------+-----------------------+
//! |     Kind      |    Length     |Subtype|                       |
//! +---------------+---------------+-------+                       |
//! |            Subtype-specific data (variable length)            |
//! +---------------------------------------------------------------+
//! ```
//!
//! The figures of the options start there too. Reserved bits are ignored and sent as 0.

mod add_addr;
pub mod crypto;
mod dss;
mod mp_capable;
mod mp_fail;
mod mp_fastclose;
mod mp_join;
mod mp_prio;
mod mp_tcprst;
mod remove_addr;

pub use add_addr::AddAddr;
pub use dss::{DataNumber, Dss, Mapping, dss_checksum, dss_checksum_of_pattern};
pub use mp_capable::MpCapable;
pub use mp_fail::MpFail;
pub use mp_fastclose::MpFastClose;
pub use mp_join::MpJoin;
pub use mp_prio::MpPrio;
pub use mp_tcprst::MpTcpRst;
pub use remove_addr::RemoveAddr;

use crate::emit::{Writer, check};
use crate::{EmitError, Malformed};

/// An MPTCP option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mptcp<'a> {
    /// MP_CAPABLE, subtype 0 (RFC 8684 §3.1).
    Capable(MpCapable),
    /// MP_JOIN, subtype 1 (RFC 8684 §3.2).
    Join(MpJoin),
    /// DSS, subtype 2 (RFC 8684 §3.3).
    Dss(Dss),
    /// ADD_ADDR, subtype 3 (RFC 8684 §3.4.1; RFC 6824 §3.4.1).
    AddAddr(AddAddr),
    /// REMOVE_ADDR, subtype 4 (RFC 8684 §3.4.2): address identifiers.
    RemoveAddr(RemoveAddr),
    /// MP_PRIO, subtype 5 (RFC 8684 §3.3.8; RFC 6824 §3.3.8).
    Prio(MpPrio),
    /// MP_FAIL, subtype 6 (RFC 8684 §3.7).
    Fail(MpFail),
    /// MP_FASTCLOSE, subtype 7 (RFC 8684 §3.5).
    FastClose(MpFastClose),
    /// MP_TCPRST, subtype 8 (RFC 8684 §3.6).
    TcpRst(MpTcpRst),
    /// MP_EXPERIMENTAL, subtype 15 (RFC 8684 §3.8), and subtypes nobody assigned.
    Other {
        /// Subtype, 0 to 15.
        subtype: u8,
        /// Everything after kind and length, subtype included.
        data: &'a [u8],
    },
}

impl<'a> Mptcp<'a> {
    /// Reads the option from the bytes after kind and length.
    ///
    /// # Errors
    /// [`Malformed`] when the length fits no form of the subtype.
    #[inline]
    pub fn parse(data: &'a [u8]) -> Result<Self, Malformed> {
        let Some(first) = data.first() else {
            return Err(Malformed::length("MPTCP option", 0));
        };
        match first >> 4 {
            dss::SUBTYPE => Dss::parse(data).map(Mptcp::Dss),
            mp_capable::SUBTYPE => MpCapable::parse(data).map(Mptcp::Capable),
            mp_join::SUBTYPE => MpJoin::parse(data).map(Mptcp::Join),
            add_addr::SUBTYPE => AddAddr::parse(data).map(Mptcp::AddAddr),
            remove_addr::SUBTYPE => RemoveAddr::parse(data).map(Mptcp::RemoveAddr),
            mp_prio::SUBTYPE => MpPrio::parse(data).map(Mptcp::Prio),
            mp_fail::SUBTYPE => MpFail::parse(data).map(Mptcp::Fail),
            mp_fastclose::SUBTYPE => MpFastClose::parse(data).map(Mptcp::FastClose),
            mp_tcprst::SUBTYPE => MpTcpRst::parse(data).map(Mptcp::TcpRst),
            subtype => Ok(Mptcp::Other { subtype, data }),
        }
    }

    /// Writes the bytes after kind and length to the start of `out`; says how many.
    ///
    /// # Errors
    /// [`EmitError`] when `out` is too small or fields contradict each other.
    pub fn emit(&self, out: &mut [u8]) -> Result<usize, EmitError> {
        let mut writer = Writer::new(out);
        match self {
            Mptcp::Capable(option) => option.emit(&mut writer)?,
            Mptcp::Join(option) => option.emit(&mut writer),
            Mptcp::Dss(option) => option.emit(&mut writer),
            Mptcp::AddAddr(option) => option.emit(&mut writer)?,
            Mptcp::RemoveAddr(option) => option.emit(&mut writer),
            Mptcp::Prio(option) => option.emit(&mut writer),
            Mptcp::Fail(option) => option.emit(&mut writer),
            Mptcp::FastClose(option) => option.emit(&mut writer),
            Mptcp::TcpRst(option) => option.emit(&mut writer)?,
            Mptcp::Other { subtype, data } => {
                let unassigned = *subtype > mp_tcprst::SUBTYPE;
                let agrees = data.first().is_some_and(|first| first >> 4 == *subtype);
                check(unassigned && agrees, "MPTCP option", "subtype")?;
                writer.put(data);
            }
        }
        writer.finish("MPTCP option")
    }
}
