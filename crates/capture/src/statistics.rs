use crate::Interface;
use std::collections::BTreeMap;

/// What was read of one capture, and what limits trust in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStatistics {
    /// The capture's name.
    pub name: String,
    /// Packets read.
    pub packets: u64,
    /// Of these, TCP.
    pub tcp: u64,
    /// UDP in one piece.
    pub udp: u64,
    /// IP of another protocol, and fragments without a TCP header.
    pub other_ip: u64,
    /// Of these and UDP, what tunnels carried, by kind: what is inside is not looked at.
    pub tunnels: BTreeMap<&'static str, u64>,
    /// No IP.
    pub not_ip: u64,
    /// Broken IP or TCP headers.
    pub malformed: u64,
    /// What was wrong with the first of these: "packet 7: …".
    pub malformed_example: Option<String>,
    /// Headers that the snap length cut.
    pub truncated_headers: u64,
    /// TCP packets whose options the snap length cut; they are given with the options that are whole.
    pub cut_options: u64,
    /// Of a link type that is not supported.
    pub unsupported: u64,
    /// The first such link type.
    pub unsupported_link_type: Option<crate::LinkType>,
    /// Fragments of IP packets, also among the TCP and other ones.
    pub fragments: u64,
    /// IP packets older than one that stands before them.
    pub out_of_order: u64,
    /// By how much at most, in nanoseconds.
    pub out_of_order_most_ns: u64,
    /// Of these, older than can be put right: they are given after newer ones.
    pub not_reordered: u64,
    /// TCP packets of one time, interface and 4-tuple as another file's: which came first is not known.
    pub order_lost: u64,
    /// The coarsest step of the interfaces' clocks, in nanoseconds.
    pub clock_resolution_ns: Option<u64>,
    /// The shortest snap length of the interfaces; none: packets were captured whole.
    pub snap_length: Option<u32>,
    /// The interfaces with their drops.
    pub interfaces: Vec<Interface>,
    /// Where the capture ends before its end, in a line without the capture's name.
    pub cut: Option<String>,
}

impl FileStatistics {
    /// Takes over what the interfaces say.
    pub(crate) fn describe(&mut self, interfaces: &[Interface]) {
        if self.interfaces == interfaces {
            return;
        }
        self.clock_resolution_ns = interfaces.iter().map(|interface| interface.resolution_ns).max();
        self.snap_length = interfaces.iter().map(|interface| interface.snap_length).filter(|&length| length > 0).min();
        self.interfaces = interfaces.to_vec();
    }
}
