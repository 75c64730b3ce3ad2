//! What the options of a segment say that matter to a connection.

use wire::mptcp::{AddAddr, Dss, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, Mptcp, RemoveAddr};
use wire::{Brief, Options, TcpOption};

/// The MPTCP options of a segment, each at most once. Malformed ones do not count.
#[derive(Clone, Copy, Debug, Default)]
pub struct Signals {
    pub capable: Option<MpCapable>,
    pub join: Option<MpJoin>,
    pub dss: Option<Dss>,
    pub add_addr: Option<AddAddr>,
    pub remove_addr: Option<RemoveAddr>,
    pub prio: Option<MpPrio>,
    pub fail: Option<MpFail>,
    pub fast_close: Option<MpFastClose>,
    /// Whether there was any.
    pub any: bool,
    /// The clock of ours that TCP's timestamps echo.
    pub echo: Option<u32>,
}

impl Signals {
    /// Reads them.
    pub fn read(options: &Options) -> Signals {
        Signals::of(&options.brief(), options)
    }

    /// Those of options of which the most frequent were read already.
    #[inline]
    pub fn of(said: &Brief, options: &Options) -> Signals {
        let echo = said.timestamps.map(|(_, echo)| echo);
        let mut signals = Signals { dss: said.dss, any: said.dss.is_some(), echo, ..Signals::default() };
        if said.signals {
            signals.add(options);
        }
        signals
    }

    #[cold]
    fn add(&mut self, options: &Options) {
        for option in options {
            let Ok(TcpOption::Mptcp(option)) = option else { continue };
            self.any = true;
            match option {
                Mptcp::Capable(capable) => self.capable = Some(capable),
                Mptcp::Join(join) => self.join = Some(join),
                Mptcp::AddAddr(add_addr) => self.add_addr = Some(add_addr),
                Mptcp::RemoveAddr(remove_addr) => self.remove_addr = Some(remove_addr),
                Mptcp::Prio(prio) => self.prio = Some(prio),
                Mptcp::Fail(fail) => self.fail = Some(fail),
                Mptcp::FastClose(fast_close) => self.fast_close = Some(fast_close),
                Mptcp::Dss(_) | Mptcp::TcpRst(_) | Mptcp::Other { .. } => {}
            }
        }
    }
}
