//! Each subflow agrees on ECN by itself, as it is a TCP connection of its own (RFC 8684 §3.2, RFC 3168 §6.1.1).

use crate::script::{mesh, play};
use transport::config::Ecn;

#[test]
fn one_subflow_may_speak_it_and_another_not() {
    let mut config = mesh();
    config.tcp.ecn = Ecn::Request;
    play(
        &config,
        "0   ! connect
         0   > wifi SEW 0:0 capable
         10  < wifi S. 0:0 ack 1 capable
         10  > wifi . 1:1 ack 1 capable
         20  < wifi . 1:1 ack 1 dss(ack 1)
         20  ! up lte
         20  > lte SEW 0:0 join(1)
         40  < lte S.E 0:0 ack 1 join(0)
         40  > lte . 1:1 ack 1 join
         60  < lte . 1:1 ack 1 dss(ack 1)
         70  < lte . 1:1001 ack 1 dss(1 1 1000, ack 1) ip(ce)
         70  > lte .E 1:1 ack 1001 dss(ack 1001)
         80  < wifi . 1:1001 ack 1 dss(1001 1 1000, ack 1) ip(ce)
         80  > wifi . 1:1 ack 1001 dss(ack 2001)
         90  < lte .W 1001:2001 ack 1 dss(2001 1001 1000, ack 1) ip(ect0)
         90  > lte . 1:1 ack 2001 dss(ack 3001)
         100 ! write 900
         100 > wifi . 1:901 ack 1001 dss(1 1 900, ack 3001)",
    );
}

#[test]
fn who_is_asked_on_one_subflow_answers_on_it() {
    play(
        &mesh(),
        "0   ! listen
         0   < wifi SEW 0:0 capable
         0   > wifi S.E 0:0 ack 1 capable
         10  < wifi . 1:1 ack 1 capable
         20  < lte S 0:0 join(1)
         20  > lte S. 0:0 ack 1 join(0)
         30  < lte . 1:1 ack 1 join
         30  > lte . 1:1 ack 1 dss(ack 1)
         40  ! write 1000
         40  > wifi . 1:1001 ack 1 dss(1 1 1000, ack 1) ip(ect0)
         50  < wifi .E 1:1 ack 1001 dss(ack 1001)
         // The end of the data, alone, is none that could be marked; nor is a FIN.
         60  ! finish
         60  > wifi . 1001:1001 ack 1 dss(fin 1001, ack 1)",
    );
}
