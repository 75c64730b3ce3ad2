//! TCP options, each in its place and as long as it was.

use wire::mptcp::{AddAddr, DataNumber, Dss, MpCapable, MpFail, MpFastClose, MpJoin, Mptcp, crypto, dss_checksum};

use crate::connections::Sender;
use crate::{Anonymiser, Counts, Secret};

const END: u8 = 0;
const NO_OPERATION: u8 = 1;
const MPTCP: u8 = 30;
/// Where the subtype stands in the first byte of an option of MPTCP.
const SUBTYPE: u8 = 0xf0;

/// Maximum segment size, window scale, selective acknowledgements, timestamps: they name nobody where they are as long as
/// they are to be.
fn names_nobody(kind: u8, length: usize) -> bool {
    matches!((kind, length), (2, 4) | (3, 3) | (4, 2) | (5, 10 | 18 | 26 | 34) | (8, 10))
}

/// Changes the options of a segment, which `sender` sent. Of what is unknown or malformed only kind and length stay.
pub(crate) fn anonymise(all: &mut Anonymiser, sender: Option<Sender>, mut rest: &mut [u8], counts: &mut Counts) {
    loop {
        let length = match *rest {
            [] => return,
            [END, ..] => 0,
            [NO_OPERATION, ..] => 1,
            [_, length, ..] => usize::from(length),
            [_] => 2,
        };
        if length == 1 && rest[0] == NO_OPERATION {
            rest = &mut rest[1..];
            continue;
        }
        if length < 2 || length > rest.len() {
            // Nothing more can be read: a length that cannot be stays what it is.
            let kept = if rest[0] == END { 1 } else { 2.min(rest.len()) };
            return rest[kept..].fill(0);
        }
        let (option, others) = rest.split_at_mut(length);
        let (kind, data) = (option[0], &mut option[2..]);
        if kind == MPTCP {
            mptcp(all, sender, data, counts);
        } else if !names_nobody(kind, length) {
            data.fill(0);
        }
        rest = others;
    }
}

fn mptcp(all: &mut Anonymiser, sender: Option<Sender>, data: &mut [u8], counts: &mut Counts) {
    let mut out = [0; 40];
    let parsed = Mptcp::parse(data);
    let unknown = matches!(parsed, Ok(Mptcp::Other { .. }));
    let emitted = parsed.map(|option| changed(all, sender, option, counts).emit(&mut out));
    if unknown {
        data[0] &= SUBTYPE;
        data[1..].fill(0);
    } else if let Ok(Ok(length)) = emitted
        && length == data.len()
    {
        data.copy_from_slice(&out[..length]);
    } else if let Some(beyond) = data.get_mut(2..) {
        // Subtype, version and flags say why it cannot be read.
        beyond.fill(0);
    }
}

fn changed<'a>(all: &mut Anonymiser, sender: Option<Sender>, option: Mptcp<'a>, counts: &mut Counts) -> Mptcp<'a> {
    match option {
        Mptcp::Capable(capable) => Mptcp::Capable(keys(&all.secret, capable)),
        Mptcp::Join(join) => Mptcp::Join(joined(all, sender, join, counts)),
        Mptcp::Dss(dss) => Mptcp::Dss(sequence(all, sender, dss)),
        Mptcp::AddAddr(add) => Mptcp::AddAddr(added(all, sender, add, counts)),
        Mptcp::Fail(MpFail { data_seq }) => {
            // It speaks of what the peer sent.
            let shift = sender.map_or(0, |sender| all.connections.shift(&all.secret, sender, true));
            Mptcp::Fail(MpFail { data_seq: data_seq.wrapping_add(shift) })
        }
        Mptcp::FastClose(MpFastClose { receiver_key }) => {
            Mptcp::FastClose(MpFastClose { receiver_key: all.secret.key(receiver_key) })
        }
        Mptcp::Other { .. } | Mptcp::RemoveAddr(_) | Mptcp::Prio(_) | Mptcp::TcpRst(_) => option,
    }
}

fn keys(secret: &Secret, capable: MpCapable) -> MpCapable {
    let key = |key: Option<u64>| key.map(|key| secret.key(key));
    let (sender_key, receiver_key) = (key(capable.sender_key), key(capable.receiver_key));
    // Data with it begins the stream.
    let checksum = capable.checksum.map(|_| {
        let begins = sender_key.map_or(0, |key| crypto::initial_data_seq(capable.version, key));
        checksum(begins.wrapping_add(1), 1, capable.data_len.unwrap_or(0))
    });
    MpCapable { sender_key, receiver_key, checksum, ..capable }
}

fn joined(all: &mut Anonymiser, sender: Option<Sender>, join: MpJoin, counts: &mut Counts) -> MpJoin {
    let mut hmac_of = |hmac: &[u8]| {
        let made = sender.and_then(|sender| all.connections.join_hmac(&all.secret, sender, hmac));
        count(made.is_some(), counts);
        made.unwrap_or_else(|| leftmost(all.secret.draw("HMAC", hmac)))
    };
    match join {
        MpJoin::Syn { backup, address_id, token, nonce } => {
            let made = all.connections.token(&all.secret, token);
            count(made.is_some(), counts);
            let drawn = || u32::from_be_bytes(leftmost(all.secret.draw("token", &token.to_be_bytes())));
            MpJoin::Syn { backup, address_id, token: made.unwrap_or_else(drawn), nonce }
        }
        MpJoin::SynAck { backup, address_id, hmac, nonce } => {
            let hmac = hmac_of(&hmac.to_be_bytes());
            let hmac = u64::from_be_bytes(*hmac.first_chunk().expect("20 bytes hold 8"));
            MpJoin::SynAck { backup, address_id, hmac, nonce }
        }
        MpJoin::Ack { hmac } => MpJoin::Ack { hmac: hmac_of(&hmac) },
    }
}

fn sequence(all: &mut Anonymiser, sender: Option<Sender>, mut dss: Dss) -> Dss {
    let Some(sender) = sender else {
        if let Some(mapping) = &mut dss.mapping {
            let data_seq = match mapping.data_seq {
                DataNumber::Long(number) => number,
                DataNumber::Short(low) => u64::from(low),
            };
            mapping.checksum = mapping.checksum.map(|_| checksum(data_seq, mapping.subflow_seq, mapping.len));
        }
        return dss;
    };
    let shifted = |number, by: u64| match number {
        DataNumber::Long(number) => DataNumber::Long(by.wrapping_add(number)),
        DataNumber::Short(low) => DataNumber::Short(low.wrapping_add(by as u32)),
    };
    if let Some(data_ack) = &mut dss.data_ack {
        *data_ack = shifted(*data_ack, all.connections.shift(&all.secret, sender, true));
    }
    if let Some(mapping) = &mut dss.mapping {
        mapping.data_seq = shifted(mapping.data_seq, all.connections.shift(&all.secret, sender, false));
        if mapping.checksum.is_some() {
            let data_seq = match mapping.data_seq {
                DataNumber::Long(number) => number,
                DataNumber::Short(low) => all.connections.extend(&all.secret, sender, low),
            };
            mapping.checksum = Some(checksum(data_seq, mapping.subflow_seq, mapping.len));
        }
    }
    dss
}

fn added(all: &mut Anonymiser, sender: Option<Sender>, add: AddAddr, counts: &mut Counts) -> AddAddr {
    let address = all.addresses.of(&all.secret, add.address);
    let hmac = add.hmac.map(|hmac| {
        let keys = sender.and_then(|sender| all.connections.keys(&all.secret, sender));
        let made = keys.and_then(|[[mine, its], [my_new, its_new]]| {
            let forms = [crypto::add_addr_hmac, crypto::add_addr_hmac_leftmost];
            let right = forms.iter().find(|form| form(mine, its, add.address_id, add.address, add.port) == hmac);
            right.map(|form| form(my_new, its_new, add.address_id, address, add.port))
        });
        count(made.is_some(), counts);
        made.unwrap_or_else(|| u64::from_be_bytes(leftmost(all.secret.draw("HMAC", &hmac.to_be_bytes()))))
    });
    AddAddr { address, hmac, ..add }
}

/// As of a payload of zeros, which is what stands for the one that was left out.
fn checksum(data_seq: u64, subflow_seq: u32, len: u16) -> u16 {
    // Zeros add nothing to a sum.
    dss_checksum(data_seq, subflow_seq, len, &[])
}

fn count(made: bool, counts: &mut Counts) {
    *(if made { &mut counts.remade } else { &mut counts.replaced }) += 1;
}

fn leftmost<const N: usize>(drawn: [u8; 32]) -> [u8; N] {
    *drawn.first_chunk().expect("fewer than 32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What stands for an option after it was changed.
    fn after(option: &[u8]) -> Vec<u8> {
        let mut all = Anonymiser::new(Secret::new(b"a secret of tests"));
        let mut bytes = option.to_vec();
        anonymise(&mut all, None, &mut bytes, &mut Counts::default());
        bytes
    }

    #[test]
    fn known_options_stay_where_they_are_as_long_as_they_are_to_be() {
        for (kind, lengths) in [(2, &[4_u8][..]), (3, &[3]), (4, &[2]), (5, &[10, 18, 26, 34]), (8, &[10])] {
            for length in 2..=40 {
                let mut option = vec![0xa5; usize::from(length)];
                option[..2].copy_from_slice(&[kind, length]);
                let after = after(&option);
                if lengths.contains(&length) {
                    assert_eq!(after, option);
                } else {
                    assert_eq!(after[..2], option[..2]);
                    assert!(after[2..].iter().all(|&byte| byte == 0), "{kind} {length}: {after:x?}");
                }
            }
        }
    }

    #[test]
    fn of_mptcp_that_cannot_be_read_no_more_stays_than_what_says_so() {
        for subtype in 0..16 {
            // Of odd lengths, as no form has them, or unknown.
            for length in 3..=40 {
                let mut option = vec![0xa5; usize::from(length)];
                option[..3].copy_from_slice(&[MPTCP, length, subtype << 4 | 0x5]);
                let parsed = Mptcp::parse(&option[2..]);
                let kept = match parsed {
                    Ok(Mptcp::Other { .. }) => 3,
                    Err(_) => 4,
                    Ok(_) => continue,
                };
                let after = after(&option);
                assert_eq!(after[2] >> 4, subtype);
                assert!(after.iter().skip(kept).all(|&byte| byte == 0), "{subtype} {length}: {after:x?}");
                assert_eq!(Mptcp::parse(&after[2..]).is_ok(), parsed.is_ok(), "{subtype} {length}");
            }
        }
    }
}
