//! What the options of a segment say that matter to a connection.

use wire::mptcp::{AddAddr, Dss, MpCapable, MpFail, MpFastClose, MpJoin, MpPrio, Mptcp, RemoveAddr};
use wire::{Options, TcpOption};

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
        let mut signals = Signals::default();
        for option in options {
            let option = match option {
                Ok(TcpOption::Mptcp(option)) => option,
                Ok(TcpOption::Timestamps { echo, .. }) => {
                    signals.echo = Some(echo);
                    continue;
                }
                _ => continue,
            };
            signals.any = true;
            match option {
                Mptcp::Dss(dss) => signals.dss = Some(dss),
                Mptcp::Capable(capable) => signals.capable = Some(capable),
                Mptcp::Join(join) => signals.join = Some(join),
                Mptcp::AddAddr(add_addr) => signals.add_addr = Some(add_addr),
                Mptcp::RemoveAddr(remove_addr) => signals.remove_addr = Some(remove_addr),
                Mptcp::Prio(prio) => signals.prio = Some(prio),
                Mptcp::Fail(fail) => signals.fail = Some(fail),
                Mptcp::FastClose(fast_close) => signals.fast_close = Some(fast_close),
                Mptcp::TcpRst(_) | Mptcp::Other { .. } => {}
            }
        }
        signals
    }
}
