//! What the options of a segment say that matter to a connection.

use wire::mptcp::{AddAddr, Dss, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, Mptcp, RemoveAddr};
use wire::{Brief, Options, TcpOption};

/// The MPTCP options of a segment. All but DSS are rare and read when they are asked for; of repeated ones the last
/// counts, malformed ones do not.
#[derive(Clone, Copy, Debug)]
pub struct Signals<'a> {
    said: &'a Brief,
    options: &'a Options,
}

impl<'a> Signals<'a> {
    /// Those of options of which the most frequent were read already.
    #[inline]
    pub fn of(said: &'a Brief, options: &'a Options) -> Signals<'a> {
        Signals { said, options }
    }

    /// Whether there is any.
    #[inline]
    pub fn any(&self) -> bool {
        self.said.dss.is_some() || self.last(Some).is_some()
    }

    /// Whether there may be others than DSS.
    #[inline]
    pub fn others(&self) -> bool {
        self.said.signals
    }

    /// The clock of ours that TCP's timestamps echo.
    #[inline]
    pub fn echo(&self) -> Option<u32> {
        self.said.timestamps.map(|(_, echo)| echo)
    }

    /// DSS.
    #[inline]
    pub fn dss(&self) -> Option<&'a Dss> {
        self.said.dss.as_ref()
    }

    /// MP_CAPABLE.
    pub fn capable(&self) -> Option<MpCapable> {
        self.last(|option| if let Mptcp::Capable(capable) = option { Some(capable) } else { None })
    }

    /// MP_JOIN.
    pub fn join(&self) -> Option<MpJoin> {
        self.last(|option| if let Mptcp::Join(join) = option { Some(join) } else { None })
    }

    /// ADD_ADDR.
    pub fn add_addr(&self) -> Option<AddAddr> {
        self.last(|option| if let Mptcp::AddAddr(add_addr) = option { Some(add_addr) } else { None })
    }

    /// REMOVE_ADDR.
    pub fn remove_addr(&self) -> Option<RemoveAddr> {
        self.last(|option| if let Mptcp::RemoveAddr(remove_addr) = option { Some(remove_addr) } else { None })
    }

    /// MP_PRIO.
    pub fn prio(&self) -> Option<MpPrio> {
        self.last(|option| if let Mptcp::Prio(prio) = option { Some(prio) } else { None })
    }

    /// MP_FAIL.
    pub fn fail(&self) -> Option<MpFail> {
        self.last(|option| if let Mptcp::Fail(fail) = option { Some(fail) } else { None })
    }

    /// MP_FASTCLOSE.
    pub fn fast_close(&self) -> Option<MpFastClose> {
        self.last(|option| if let Mptcp::FastClose(fast_close) = option { Some(fast_close) } else { None })
    }

    #[inline]
    fn last<T>(&self, pick: impl FnMut(Mptcp<'a>) -> Option<T>) -> Option<T> {
        if self.said.signals { self.search(pick) } else { None }
    }

    #[cold]
    fn search<T>(&self, pick: impl FnMut(Mptcp<'a>) -> Option<T>) -> Option<T> {
        let options = self.options.iter().filter_map(|option| match option {
            Ok(TcpOption::Mptcp(option)) => Some(option),
            _ => None,
        });
        options.filter_map(pick).last()
    }
}
