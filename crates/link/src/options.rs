//! TCP options as middleboxes read and write them: in place, their length unchanged (RFC 9293 §3.1).

use wire::{Options, Tcp};

pub(crate) const END: u8 = 0;
pub(crate) const NO_OPERATION: u8 = 1;
pub(crate) const MAXIMUM_SEGMENT_SIZE: u8 = 2;
pub(crate) const WINDOW_SCALE: u8 = 3;
pub(crate) const SACK: u8 = 5;
/// RFC 8684 §3.
pub(crate) const MPTCP: u8 = 30;

/// Shows every option, kind and length with it, to `change`, which says whether it wrote to it. Behind what is malformed
/// nothing is known.
pub(crate) fn revise(tcp: &mut Tcp, mut change: impl FnMut(&mut [u8]) -> bool) {
    let mut room = [0; 40];
    let given = tcp.options.as_bytes();
    let bytes = &mut room[..given.len()];
    bytes.copy_from_slice(given);
    let (mut at, mut changed) = (0, false);
    while let Some(&kind) = bytes.get(at) {
        let len = match (kind, bytes.get(at + 1)) {
            (NO_OPERATION, _) => 1,
            (END, _) | (_, None | Some(0 | 1)) => break,
            (_, Some(&len)) => usize::from(len),
        };
        let Some(option) = bytes.get_mut(at..at + len) else { break };
        if kind != NO_OPERATION {
            changed |= change(option);
        }
        at += len;
    }
    if changed {
        tcp.options = Options::from_bytes(bytes).expect("as many as before");
    }
}

/// Overwrites MPTCP options with no-operations.
pub(crate) fn strip(tcp: &mut Tcp, which: impl Fn(&[u8]) -> bool) {
    revise(tcp, |option| {
        let goes = option[0] == MPTCP && which(option);
        if goes {
            option.fill(NO_OPERATION);
        }
        goes
    });
}

/// The subtype of an MPTCP option (RFC 8684 §3, figure 3).
pub(crate) fn subtype(option: &[u8]) -> Option<u8> {
    option.get(2).map(|third| third >> 4)
}
