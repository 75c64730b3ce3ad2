//! What both ends agree on when a connection opens (RFC 8684 §3.1): version, keys and what follows from them.

use super::numbers::Numbers;
use super::open::CHECKSUM_REQUIRED;
use crate::config;
use wire::mptcp::AddAddr;
use wire::mptcp::crypto::{Party, add_addr_hmac, initial_data_seq, token};

/// Bytes that DSS takes in a segment with data, its checksum included: with numbers of 8 bytes, with a DATA_ACK of 4 beside
/// one, and with numbers of 4.
const DSS_BYTES: [u32; 3] = [28, 24, 20];

/// Version, keys, tokens, data sequence numbers and checksums of a connection.
///
/// It begins with what this end offers. [`agree`](Agreement::agree) takes what the peer's first MP_CAPABLE asks for, then
/// [`learn_key`](Agreement::learn_key) the peer's key, once: only from then on tokens and data sequence numbers of the peer mean
/// anything. [`note_long_number`](Agreement::note_long_number) widens what DSS takes, and nothing narrows it again.
pub struct Agreement {
    /// That is spoken or offered.
    version: u8,
    local_key: u64,
    remote_key: Option<u64>,
    local_token: u32,
    remote_token: u32,
    /// Data sequence numbers of both directions.
    sending: Numbers,
    receiving: Numbers,
    /// Both ends use DSS checksums.
    checksums: bool,
    long_numbers: bool,
    /// The peer sent such a number: DATA_ACKs are as long from then on.
    long_number_came: bool,
    capable_retries: u32,
}

impl Agreement {
    /// What an end with this key offers.
    pub fn new(settings: &config::Mptcp, local_key: u64) -> Agreement {
        Agreement {
            version: settings.version,
            local_key,
            remote_key: None,
            local_token: token(settings.version, local_key),
            remote_token: 0,
            sending: Numbers::new(initial_data_seq(settings.version, local_key)),
            receiving: Numbers::new(0),
            checksums: settings.checksum,
            long_numbers: settings.long_numbers,
            long_number_came: false,
            capable_retries: settings.capable_retries,
        }
    }

    /// The flags of the peer's MP_CAPABLE.
    pub fn agree(&mut self, flags: u8) {
        self.checksums |= flags & CHECKSUM_REQUIRED != 0;
    }

    /// The key in a SYN of version 0: nothing shows yet that the peer has ours (RFC 6824 §3.1).
    pub fn note_offered_key(&mut self, key: Option<u64>) {
        self.remote_key = key;
    }

    /// Both ends have both keys.
    pub fn learn_key(&mut self, key: u64) {
        self.remote_key = Some(key);
        self.remote_token = token(self.version, key);
        self.receiving = Numbers::new(initial_data_seq(self.version, key));
    }

    /// The version that is spoken or offered.
    #[inline]
    pub fn version(&self) -> u8 {
        self.version
    }

    /// This end's key.
    pub fn local_key(&self) -> u64 {
        self.local_key
    }

    /// The peer's, once it said one.
    pub fn remote_key(&self) -> Option<u64> {
        self.remote_key
    }

    /// Both keys: this end's and the peer's.
    pub fn keys(&self) -> Option<(u64, u64)> {
        self.remote_key.map(|remote| (self.local_key, remote))
    }

    /// Names the connection in the peer's MP_JOINs.
    pub fn local_token(&self) -> u32 {
        self.local_token
    }

    /// Names it in ours.
    pub fn remote_token(&self) -> u32 {
        self.remote_token
    }

    /// Both ends in the HMACs of a joined subflow, with their nonces: this one and the peer.
    pub fn parties(&self, local_nonce: u32, remote_nonce: u32) -> (Party, Party) {
        let remote_key = self.remote_key.unwrap_or(0);
        (Party { key: self.local_key, nonce: local_nonce }, Party { key: remote_key, nonce: remote_nonce })
    }

    /// Whether a SYN that is sent for the `tries`-th time offers MPTCP: a middlebox may drop SYNs with options that it does not
    /// know (RFC 8684 §3.1).
    pub fn is_offered(&self, tries: u32) -> bool {
        tries <= self.capable_retries
    }

    /// Data sequence numbers of what is sent.
    #[inline]
    pub fn sending(&self) -> Numbers {
        self.sending
    }

    /// Data sequence numbers of what is received.
    #[inline]
    pub fn receiving(&self) -> Numbers {
        self.receiving
    }

    /// Whether both ends use DSS checksums.
    #[inline]
    pub fn has_checksums(&self) -> bool {
        self.checksums
    }

    /// Whether data sequence numbers of 8 bytes are sent.
    #[inline]
    pub fn long_numbers(&self) -> bool {
        self.long_numbers
    }

    /// Whether DATA_ACKs have 8 bytes: once such numbers came (RFC 8684 §3.3.2; net/mptcp/options.c,
    /// mptcp_established_options_dss).
    #[inline]
    pub fn long_acks(&self) -> bool {
        self.long_numbers && self.long_number_came
    }

    /// Whether a number of 8 bytes would change what DSS takes.
    #[inline]
    pub fn awaits_long_number(&self) -> bool {
        self.long_numbers && !self.long_number_came
    }

    /// A number of 8 bytes came.
    pub fn note_long_number(&mut self) {
        self.long_number_came = true;
    }

    /// Bytes that DSS takes in a segment with data.
    pub fn dss_bytes(&self) -> u32 {
        DSS_BYTES[match (self.long_numbers, self.long_number_came) {
            (true, true) => 0,
            (true, false) => 1,
            (false, _) => 2,
        }]
    }

    /// An announcement with its HMAC.
    pub fn sign(&self, add_addr: AddAddr) -> AddAddr {
        let AddAddr { address_id, address, port, .. } = add_addr;
        let remote_key = self.remote_key.unwrap_or(0);
        AddAddr { hmac: Some(add_addr_hmac(self.local_key, remote_key, address_id, address, port)), ..add_addr }
    }

    /// Whether an ADD_ADDR comes from the peer of this connection; in version 0 nothing shows it.
    pub fn is_signed(&self, add_addr: &AddAddr) -> bool {
        if self.version == 0 {
            return add_addr.version == 0;
        }
        let AddAddr { address_id, address, port, .. } = *add_addr;
        let remote_key = self.remote_key.unwrap_or(0);
        add_addr.hmac == Some(add_addr_hmac(remote_key, self.local_key, address_id, address, port))
    }
}
