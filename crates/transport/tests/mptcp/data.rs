//! DSS: mappings and DATA_ACKs (RFC 8684 §3.3).

use crate::script::{SERVER, plain, play};

#[test]
fn mappings_longer_than_a_segment() {
    // Linux maps what it sends in one call at once, and its segments all carry the mapping (net/mptcp/protocol.c).
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  < wifi . 1:1001 ack 1 dss(1 1 2500, ack 1)
             20  > wifi . 1:1 ack 1001 dss(ack 1001)
             21  < wifi . 1001:2001 ack 1 dss(1 1 2500, ack 1)
             21  > wifi . 1:1 ack 2001 dss(ack 2001)
             22  < wifi . 2001:2501 ack 1 dss(1 1 2500, ack 1)
             22  > wifi . 1:1 ack 2501 dss(ack 2501)
             22  = read 2500
             22  = corrupt 0"
        ),
    );
    // RFC 8684 §3.3.1: one of them may carry it for all.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  < wifi . 1:1001 ack 1 dss(1 1 2500, ack 1)
             20  > wifi . 1:1 ack 1001 dss(ack 1001)
             21  < wifi . 1001:2001 ack 1
             21  > wifi . 1:1 ack 2001 dss(ack 2001)
             22  < wifi . 2001:2501 ack 1
             22  > wifi . 1:1 ack 2501 dss(ack 2501)
             22  = read 2500"
        ),
    );
    // With checksums it counts only when it is whole.
    play(
        &plain(),
        "0   ! listen
         0   < wifi S 0:0 capable(checksum)
         0   > wifi S. 0:0 ack 1 capable(checksum)
         10  < wifi . 1:1 ack 1 capable(checksum)
         20  < wifi . 1:1001 ack 1 dss(1 1 1501, ack 1, sum)
         20  > wifi . 1:1 ack 1001 dss(ack 1)
         21  < wifi . 1001:1502 ack 1 dss(1 1 1501, ack 1, sum)
         21  > wifi . 1:1 ack 1502 dss(ack 1502)
         21  = read 1501",
    );
}

#[test]
fn mappings_out_of_order() {
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  < wifi . 2001:2501 ack 1 dss(1 1 2500, ack 1)
             20  > wifi . 1:1 ack 1 dss(ack 1)
             21  < wifi . 1001:2001 ack 1 dss(1 1 2500, ack 1)
             21  > wifi . 1:1 ack 1 dss(ack 1)
             22  < wifi . 1:1001 ack 1 dss(1 1 2500, ack 1)
             22  > wifi . 1:1 ack 2501 dss(ack 2501)
             22  = read 2500"
        ),
    );
    // In order on the subflow and not in the connection.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  < wifi . 1:101 ack 1 dss(201 1 100, ack 1)
             20  > wifi . 1:1 ack 101 dss(ack 1)
             20  = ahead 100
             21  < wifi . 101:201 ack 1 dss4(101 101 100, ack 1)
             21  > wifi . 1:1 ack 201 dss(ack 1)
             22  < wifi . 201:301 ack 1 dss(1 201 100, ack 1)
             22  > wifi . 1:1 ack 301 dss(ack 301)
             22  = read 300
             22  = corrupt 0"
        ),
    );
}

#[test]
fn data_that_comes_twice_counts_once() {
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  < lte S 0:0 join(1)
             20  > lte S. 0:0 ack 1 join(0)
             30  < lte . 1:1 ack 1 join
             30  > lte . 1:1 ack 1 dss(ack 1)
             40  < lte . 1:1001 ack 1 dss(1 1 1000, ack 1)
             40  > lte . 1:1 ack 1001 dss(ack 1001)
             50  < wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             50  > wifi . 1:1 ack 1001 dss(ack 1001)
             50  = read 1000"
        ),
    );
}

#[test]
fn altered_payload_is_noticed_without_checksums_too() {
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  < wifi . 1:101 ack 1 dss(1 1 100, ack 1) bad
             20  > wifi . 1:1 ack 101 dss(ack 101)
             20  = corrupt 100"
        ),
    );
}

#[test]
fn before_the_first_byte_there_is_none() {
    // What a mapping says of bytes before the stream means nothing: the others are as if their options were stripped.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  < wifi . -100:101 ack 1 dss(1 4294967246 200, ack 1)
             20  > wifi . 1:1 ack 101
             20  = read 100"
        ),
    );
}

#[test]
fn data_acks_old_and_untrue() {
    // RFC 8684 §3.3.2, as RFC 9293 §3.10.7.4 has it for ACKs.
    play(
        &plain(),
        &format!(
            "{SERVER}
             20  ! write 1500
             20  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1)
             20  > wifi . 1001:1501 ack 1 dss(1001 1001 500, ack 1)
             30  < wifi . 1:1 ack 1501 dss(ack 9000)
             30  = waiting 1500
             31  < wifi . 1:1 ack 1501 dss(ack 1001)
             31  = waiting 500
             32  < wifi . 1:1 ack 1501 dss(ack 1)
             32  = waiting 500
             33  < wifi . 1:1 ack 1501 dss4(ack 1501)
             33  = waiting 0"
        ),
    );
}
