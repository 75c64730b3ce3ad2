//! Messages of the Convert Protocol (RFC 8803 §6), from their figures and from IANA's registry ("TCP Convert Protocol
//! Parameters"), byte by byte and in both directions.

use proptest::prelude::*;
use std::net::SocketAddr;
use wire::Malformed;
use wire::convert::{self, Code, Fault, HEADER_BYTES, MOST_BYTES, Tlv};

/// A message, and the bytes of it in hexadecimal.
fn vectors() -> Vec<(Vec<Tlv<'static>>, &'static str)> {
    let remote = |text: &str| text.parse::<SocketAddr>().unwrap();
    vec![
        (vec![], "01 01 2263"),
        (vec![Tlv::Info], "01 02 2263  01 01 0000"),
        (
            // "solely Kind=30": Multipath TCP alone.
            vec![Tlv::Supported { kinds: &[30] }],
            "01 03 2263  15 02 0000  1e 00 00 00",
        ),
        (vec![Tlv::Supported { kinds: &[4, 8, 30, 34, 28] }], "01 04 2263  15 03 0000  04 08 1e 22 1c 00 00 00"),
        (
            // The address that libconvert's tests have (Tessares), port 12345.
            vec![Tlv::Connect { remote: remote("[::1:5ee:bad:c0de]:12345"), options: &[] }],
            "01 06 2263  0a 05 3039  00000000 00000000 0001 05ee 0bad c0de",
        ),
        (
            // IPv4 as mapped into IPv6 (RFC 4291 §2.5.5.2).
            vec![Tlv::Connect { remote: remote("192.0.2.1:443"), options: &[] }],
            "01 06 2263  0a 05 01bb  00000000 00000000 0000ffff c0000201",
        ),
        (
            // With an option for the server, Multipath TCP without content, and its padding.
            vec![Tlv::Connect { remote: remote("[2001:db8::7]:80"), options: &[30, 2, 0, 0] }],
            "01 07 2263  0a 06 0050  20010db8 00000000 00000000 00000007  1e 02 00 00",
        ),
        (vec![Tlv::ExtendedHeader { options: &[2, 4, 5, 0xb4] }], "01 03 2263  14 02 0000  02 04 05b4"),
        (
            vec![
                Tlv::Cookie { cookie: &[1, 2, 3, 4, 5, 6, 7, 8] },
                Tlv::Connect { remote: remote("192.0.2.1:443"), options: &[] },
            ],
            "01 09 2263  16 03 0000 01020304 05060708  0a 05 01bb 00000000 00000000 0000ffff c0000201",
        ),
        (vec![error(Code::UNSUPPORTED_VERSION, &[1])], "01 02 2263  1e 01 00 01"),
        (vec![error(Code::MALFORMED_MESSAGE, &[1, 1, 0x22, 0x63, 0])], "01 03 2263  1e 02 01  01 01 22 63 00"),
        (vec![error(Code::UNSUPPORTED_MESSAGE, &[99, 1, 0, 0, 0])], "01 03 2263  1e 02 02  63 01 00 00 00"),
        (
            // A byte of 0 makes the cookie begin at a word.
            vec![error(Code::MISSING_COOKIE, &[0, 1, 2, 3, 4, 5, 6, 7, 8])],
            "01 04 2263  1e 03 03 00  01020304 05060708",
        ),
        (vec![error(Code::NOT_AUTHORIZED, &[0])], "01 02 2263  1e 01 20 00"),
        (vec![error(Code::UNSUPPORTED_TCP_OPTION, &[29])], "01 02 2263  1e 01 21 1d"),
        (vec![error(Code::RESOURCE_EXCEEDED, &[0])], "01 02 2263  1e 01 40 00"),
        (vec![error(Code::NETWORK_FAILURE, &[0])], "01 02 2263  1e 01 41 00"),
        (vec![error(Code::CONNECTION_RESET, &[0])], "01 02 2263  1e 01 60 00"),
        (vec![error(Code::DESTINATION_UNREACHABLE, &[1])], "01 02 2263  1e 01 61 01"),
    ]
}

fn error(code: Code, value: &'static [u8]) -> Tlv<'static> {
    Tlv::Error { code, value }
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    let digits: Vec<u8> = hexadecimal.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap()).collect()
}

fn header(message: &[u8]) -> [u8; HEADER_BYTES] {
    message[..HEADER_BYTES].try_into().unwrap()
}

#[test]
fn messages_are_those_of_the_rfc() {
    for (tlvs, hexadecimal) in vectors() {
        let expected = bytes(hexadecimal);
        assert_eq!(convert::message(&tlvs).unwrap(), expected, "{tlvs:?}");
        assert_eq!(convert::message_len(header(&expected)), Ok(expected.len()));
        let read: Result<Vec<_>, _> = convert::tlvs(&expected[HEADER_BYTES..]).collect();
        assert_eq!(read.unwrap(), tlvs);
    }
}

/// The registry as IANA has it.
#[test]
fn errors_have_the_names_of_the_registry() {
    let registry = [
        (0, "Unsupported Version"),
        (1, "Malformed Message"),
        (2, "Unsupported Message"),
        (3, "Missing Cookie"),
        (32, "Not Authorized"),
        (33, "Unsupported TCP Option"),
        (64, "Resource Exceeded"),
        (65, "Network Failure"),
        (96, "Connection Reset"),
        (97, "Destination Unreachable"),
    ];
    for code in 0..=u8::MAX {
        let name = registry.iter().find(|(known, _)| *known == code).map(|(_, name)| *name);
        assert_eq!(Code(code).name(), name, "{code}");
    }
    assert_eq!(Code::CONNECTION_RESET.to_string(), "Connection Reset (96)");
    assert_eq!(Code(98).to_string(), "Unknown (98)");
}

#[test]
fn other_headers_are_refused() {
    let text = |message: &str| convert::message_len(header(&bytes(message))).unwrap_err().to_string();
    assert_eq!(text("47 45 54 20"), "Convert message: magic number 21536 is impossible");
    assert_eq!(convert::message_len([2, 1, 0x22, 0x63]), Err(Fault::Version(2)));
    assert_eq!(text("02 01 2263"), "Convert message: version 2 is not supported");
    assert_eq!(convert::message_len([1, 0, 0x22, 0x63]), Err(Fault::Empty));
    assert_eq!(text("01 00 2263"), "Convert message: total length 0 is impossible");
}

#[test]
fn malformed_elements_end_the_list() {
    let read = |tlvs: &str| convert::tlvs(&bytes(tlvs)).map(|tlv| tlv.map(|one| one.kind())).collect::<Vec<_>>();
    let cut = |need, have| Err(Malformed::Short { header: "Convert message", need, have });
    assert_eq!(
        read("01 00 0000"),
        [Err(Malformed::Field { header: "Convert message", field: "length of a TLV", value: 0 })]
    );
    assert_eq!(read("01 01 0000  0a 05 0050"), [Ok(1), cut(20, 4)]);
    assert_eq!(read("0a 02 0050 00000000  01 01 0000"), [cut(20, 8)]);
    assert_eq!(read("01 01"), [cut(4, 2)]);
    assert_eq!(read("01 02 0000 00000000").len(), 1);
    assert_eq!(read("2a 01 0000  01 01 0000"), [Ok(42), Ok(1)]);
    let twice = Malformed::Field { header: "Convert message", field: "second TLV of type", value: 1 };
    assert_eq!(read("01 01 0000  01 01 0000"), [Ok(1), Err(twice)]);
}

#[test]
fn messages_have_a_longest() {
    // The most that fits into an Error TLV: 254 words without type, length and code.
    let value = vec![7; MOST_BYTES - HEADER_BYTES - 3];
    let longest = convert::message(&[Tlv::Error { code: Code::MALFORMED_MESSAGE, value: &value }]).unwrap();
    assert_eq!((longest.len(), longest[1]), (MOST_BYTES, 255));
    let value = vec![7; value.len() + 1];
    assert!(convert::message(&[Tlv::Error { code: Code::MALFORMED_MESSAGE, value: &value }]).is_err());
}

proptest! {
    #[test]
    fn any_bytes_are_read(given in prop::collection::vec(any::<u8>(), 0..200)) {
        let read: Vec<_> = convert::tlvs(&given).collect();
        // What was read is written as it was, but for reserved fields and padding.
        if let Ok(tlvs) = read.into_iter().collect::<Result<Vec<_>, _>>() {
            let written = convert::message(&tlvs).unwrap();
            let again: Result<Vec<_>, _> = convert::tlvs(&written[HEADER_BYTES..]).collect();
            prop_assert_eq!(again.unwrap(), tlvs);
        }
    }
}
