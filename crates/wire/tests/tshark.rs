//! Real captures, field by field against tshark. Passes, saying so, where captures or tshark are missing (the latter
//! unless `MPTCPLAB_REQUIRE` is set).

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use wire::mptcp::{DataNumber, Mptcp};
use wire::{Body, Frame, L4, Malformed, Original, Packet, Tcp, TcpOption};

const FIELDS: [&str; 14] = [
    "frame.number",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.ack_raw",
    "tcp.flags",
    "tcp.window_size_value",
    "tcp.len",
    "tcp.options",
    "tcp.options.mptcp.subtype",
    "tcp.options.mptcp.rawdataack",
    "tcp.options.mptcp.rawdataseqno",
    "tcp.options.mptcp.subflowseqno",
    "tcp.options.mptcp.datalvllen",
];

/// Captures beside the repository, which a clone does not have.
fn captures() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/captures");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no captures in {}", folder.display());
        return Vec::new();
    };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "pcap"));
    paths.sort();
    paths
}

/// What tshark writes for `arguments` on the capture, whose format it turns into little-endian pcap where asked to.
fn tshark(capture: &Path, arguments: &[&str]) -> Option<Vec<u8>> {
    let Ok(output) = Command::new("tshark").arg("-n").arg("-r").arg(capture).args(arguments).output() else {
        assert!(std::env::var_os("MPTCPLAB_REQUIRE").is_none(), "tshark is not installed");
        eprintln!("skipped: tshark is not installed");
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(output.stdout)
}

/// The IP packets of a pcap file (little-endian), each with its number and its original length.
fn packets(pcap: &[u8]) -> Vec<(u32, &[u8], u32)> {
    let word = |at: usize| u32::from_le_bytes(pcap[at..at + 4].try_into().unwrap());
    assert_eq!(word(0), 0xa1b2_c3d4);
    // Bytes before the network layer, and where their last two say which it is.
    let link = match word(20) {
        1 => 14,   // Ethernet
        113 => 16, // Linux cooked
        101 => 0,  // raw IP
        other => panic!("link type {other}"),
    };
    let (mut found, mut at, mut number) = (Vec::new(), 24, 0);
    while at < pcap.len() {
        let (captured, original) = (word(at + 8) as usize, word(at + 12));
        let record = &pcap[at + 16..at + 16 + captured];
        at += 16 + captured;
        number += 1;
        let is_ip = link == 0 || matches!(record[link - 2..link], [0x08, 0x00] | [0x86, 0xdd]);
        if is_ip {
            found.push((number, &record[link..], original - link as u32));
        }
    }
    found
}

/// A row of [`FIELDS`] as tshark writes it.
fn row(number: u32, frame: &Frame, tcp: &Tcp) -> String {
    let mut subtypes = Vec::new();
    let [mut data_ack, mut data_seq, mut subflow_seq, mut len] = [const { String::new() }; 4];
    for option in &tcp.options {
        match option {
            Ok(TcpOption::Mptcp(option)) => {
                subtypes.push(subtype(&option).to_string());
                match option {
                    Mptcp::Dss(dss) => {
                        data_ack = dss.data_ack.map_or(String::new(), digits);
                        if let Some(mapping) = dss.mapping {
                            data_seq = digits(mapping.data_seq);
                            subflow_seq = mapping.subflow_seq.to_string();
                            len = mapping.len.to_string();
                        }
                    }
                    Mptcp::Capable(capable) => len = capable.data_len.map_or(String::new(), |len| len.to_string()),
                    _ => {}
                }
            }
            // tshark names what it then cannot read.
            Err(Malformed::Field { header: "DSS", .. }) => subtypes.push("2".into()),
            _ => {}
        }
    }
    let options: String = tcp.options.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    let Tcp { source_port, destination_port, seq, ack, flags, window, .. } = tcp;
    let payload = frame.payload.len;
    let subtypes = subtypes.join(",");
    format!(
        "{number}\t{source_port}\t{destination_port}\t{seq}\t{ack}\t0x{:04x}\t{window}\t{payload}\t{options}\t{subtypes}\t\
         {data_ack}\t{data_seq}\t{subflow_seq}\t{len}",
        flags.0
    )
}

fn digits(number: DataNumber) -> String {
    match number {
        DataNumber::Long(number) => number.to_string(),
        DataNumber::Short(number) => number.to_string(),
    }
}

fn subtype(option: &Mptcp) -> u8 {
    match option {
        Mptcp::Capable(_) => 0,
        Mptcp::Join(_) => 1,
        Mptcp::Dss(_) => 2,
        Mptcp::AddAddr(_) => 3,
        Mptcp::RemoveAddr(_) => 4,
        Mptcp::Prio(_) => 5,
        Mptcp::Fail(_) => 6,
        Mptcp::FastClose(_) => 7,
        Mptcp::TcpRst(_) => 8,
        Mptcp::Other { subtype, .. } => *subtype,
    }
}

#[test]
fn every_tcp_header_reads_as_in_tshark() {
    for capture in captures() {
        let columns: Vec<&str> = FIELDS.iter().flat_map(|field| ["-e", field]).collect();
        let fields = [&["-Y", "tcp", "-T", "fields"], &columns[..]].concat();
        let (Some(pcap), Some(expected)) = (tshark(&capture, &["-F", "pcap", "-w", "-"]), tshark(&capture, &fields))
        else {
            return;
        };
        let expected = String::from_utf8(expected).unwrap();
        let mut expected = expected.lines();
        for (number, bytes, original_len) in packets(&pcap) {
            let frame = Frame::parse(bytes, original_len).unwrap();
            if let L4::Tcp(tcp) = &frame.l4 {
                assert_eq!(Some(row(number, &frame, tcp).as_str()), expected.next(), "{}", capture.display());
            }
        }
        assert_eq!(expected.next(), None, "{}", capture.display());
    }
}

#[test]
fn every_packet_is_written_as_it_was() {
    for capture in captures() {
        let Some(pcap) = tshark(&capture, &["-F", "pcap", "-w", "-"]) else { return };
        // Elsewhere packets are cut or their checksums were left to a card.
        let checksums = capture.file_name().is_some_and(|name| name == "tcpdump_mptcp-v0.pcap");
        for (number, bytes, original_len) in packets(&pcap) {
            let frame = Frame::parse(bytes, original_len).unwrap();
            let header_len = match &frame.l4 {
                L4::Tcp(tcp) => 40 + tcp.options.as_bytes().len(),
                L4::Udp { .. } | L4::Icmp { .. } => 28,
                L4::Other(_) => 20,
            };
            let has_ip_options = bytes[0] != 0x45;
            if has_ip_options || bytes.len() < header_len {
                continue;
            }
            let captured = bytes.len().min(header_len + frame.payload.len as usize);
            let mut written = Vec::new();
            frame.emit(&bytes[header_len..captured], &mut written).unwrap();
            let checksum = match frame.l4 {
                L4::Tcp(_) => 36..38,
                L4::Udp { .. } => 26..28,
                L4::Icmp { .. } => 22..24,
                L4::Other(_) => 0..0,
            };
            if !checksums {
                written[checksum.clone()].copy_from_slice(&bytes[checksum]);
            }
            assert_eq!(written, bytes[..captured], "{} packet {number}", capture.display());
        }
    }
}

/// IP options, wrong checksums and all.
#[test]
fn every_packet_passes_as_it_came() {
    for capture in captures() {
        let Some(pcap) = tshark(&capture, &["-F", "pcap", "-w", "-"]) else { return };
        for (number, bytes, original_len) in packets(&pcap) {
            if bytes.len() < original_len as usize {
                continue;
            }
            let mut original = Original::copy(bytes);
            let frame = original.read(bytes.len(), true).unwrap();
            let original = Arc::new(original);
            let body = Body::part(&original, original.headers().len()..original.bytes().len());
            let mut written = Vec::new();
            Packet { frame, body: Some(body) }.emit(&mut written, None).unwrap();
            assert!(bytes.starts_with(&written), "{} packet {number}", capture.display());
            assert_eq!(written.len() as u32, frame_len(bytes), "{} packet {number}", capture.display());
        }
    }
}

/// Bytes without what pads them on the link.
fn frame_len(bytes: &[u8]) -> u32 {
    let half = |at: usize| u32::from(bytes[at]) << 8 | u32::from(bytes[at + 1]);
    match bytes[0] >> 4 {
        4 if half(2) > 0 => half(2),
        6 if half(4) > 0 => 40 + half(4),
        _ => bytes.len() as u32,
    }
}
