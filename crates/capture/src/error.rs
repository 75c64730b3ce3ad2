use std::io;

/// What went wrong in which capture, in one line: "client.pcapng: packet 1202: captured length 4026531840 cannot be".
#[derive(Debug, thiserror::Error)]
#[error("{capture}: {fault}")]
pub struct Error {
    /// The capture's name.
    pub capture: String,
    /// What went wrong.
    pub fault: Fault,
}

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Nothing of that name.
    #[error("there is no such file; check the path")]
    Missing,
    /// No permission.
    #[error("is not readable; check its permissions")]
    Forbidden,
    /// A directory.
    #[error("is a directory; name the captures in it")]
    Directory,
    /// No bytes.
    #[error("is empty (not even a header); record it again")]
    Empty,
    /// Ends before the first packet could.
    #[error("ends within its header, nothing can be read from it; record or copy it again")]
    Headless,
    /// Not a capture of a kind that is known.
    #[error(
        "is neither pcap nor pcapng (not even compressed by gzip or zstd); if Wireshark reads it, convert it with editcap"
    )]
    Unknown,
    /// A known kind that is not read.
    #[error("is {kind}; {advice}")]
    Foreign {
        /// What it is.
        kind: &'static str,
        /// What to do about it.
        advice: &'static str,
    },
    /// A version that is not read.
    #[error("is {format} version {major}.{minor}, which is not known; convert it with editcap")]
    Version {
        /// "pcap" or "pcapng".
        format: &'static str,
        /// Major version.
        major: u16,
        /// Minor version.
        minor: u16,
    },
    /// The operating system could not read on.
    #[error("cannot be read: {0}")]
    Io(io::Error),

    /// The file ends within a packet.
    #[error("ends in the middle of packet {record}")]
    CutPacket {
        /// The packet's number, from 1.
        record: u64,
    },
    /// The file ends within a block that holds no packet, or too early to know.
    #[error("ends in the middle of a block after packet {record}")]
    CutBlock {
        /// Number of the last packet before.
        record: u64,
    },
    /// Compressed data end early or are damaged.
    #[error("compressed data are cut or damaged after packet {record} ({reason})")]
    Damaged {
        /// Number of the last packet that was read.
        record: u64,
        /// What the decompressor says.
        reason: io::Error,
    },
    /// A packet's header holds what cannot be.
    #[error("packet {record}: {field} {value} is impossible")]
    Packet {
        /// The packet's number, from 1.
        record: u64,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
    /// A pcapng block holds what cannot be.
    #[error("block after packet {record}: {field} {value} is impossible")]
    Block {
        /// Number of the last packet before.
        record: u64,
        /// The field.
        field: &'static str,
        /// Its value.
        value: u64,
    },
}

impl Fault {
    /// Sorts an error of opening or reading by what the user can do about it.
    pub(crate) fn from_io(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::NotFound => Fault::Missing,
            io::ErrorKind::PermissionDenied => Fault::Forbidden,
            io::ErrorKind::IsADirectory => Fault::Directory,
            _ => Fault::Io(error),
        }
    }

    /// Sorts an error of reading on: the operating system's, or the decompressor's.
    pub(crate) fn from_reading(error: io::Error, record: u64) -> Fault {
        if error.raw_os_error().is_some() { Fault::Io(error) } else { Fault::Damaged { record, reason: error } }
    }

    /// Whether what came before can be trusted: the capture was fine up to a place in it.
    pub(crate) fn is_cut(&self) -> bool {
        !matches!(self, Fault::Io(_))
    }
}
