//! MP_JOIN (RFC 8684 §3.2).

use crate::script::{mesh, plain, play};

/// A client whose peer is known to speak MPTCP.
const CLIENT: &str = "0   ! connect
         0   > wifi S 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
         20  < wifi . 1:1 ack 1 dss(ack 1)
         ";

/// A server likewise.
const SERVER: &str = "0   ! listen
         0   < wifi S 0:0 capable
         0   > wifi S. 0:0 ack 1 capable
         10  < wifi . 1:1 ack 1 capable
         ";

#[test]
fn a_client_joins() {
    // Only the fourth packet lets it send (RFC 8684 §3.2).
    play(
        &mesh(),
        &format!(
            "{CLIENT}
             20  ! up lte
             20  > lte S 0:0 join(1)
             30  < lte S. 0:0 ack 1 join(0)
             30  > lte . 1:1 ack 1 join
             30  ! write 100
             30  > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             // The third packet was lost.
             1030 > wifi . 1:101 ack 1 dss(1 1 100, ack 1)
             1030 > lte . 1:1 ack 1 join
             1040 < lte . 1:1 ack 1 dss(ack 1)
             1040 > lte . 1:101 ack 1 dss(1 1 100, ack 1)
             1040 = subflows 2"
        ),
    );
}
