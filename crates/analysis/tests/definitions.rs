//! The definitions of docs/analysis.md, each figure worked out by hand from a script.

#[path = "definitions/delays.rs"]
mod delays;
mod script;
#[path = "definitions/series.rs"]
mod series;

use script::Host::Server;
use script::*;

/// Seen at the client: Wi-Fi takes 20 ms, LTE 50 ms there and back.
const TWO_PATHS: &str = "
    0   client wifi S  0 0 0 mp_capable
    20  server wifi SA 0 1 0 mp_capable
    20  client wifi A  1 1 0 mp_capable
    30  client lte  S  0 0 0 join(2)
    80  server lte  SA 0 1 0 join(0)
    80  client lte  A  1 1 0 join(2)
    130 server lte  A  1 1 0
    ";

/// The same seen at the server.
const TWO_PATHS_AT_SERVER: &str = "
    0    client wifi S  0 0 0 mp_capable
    0    server wifi SA 0 1 0 mp_capable
    20   client wifi A  1 1 0 mp_capable
    30   client lte  S  0 0 0 join(2)
    30   server lte  SA 0 1 0 join(0)
    80   client lte  A  1 1 0 join(2)
    80   server lte  A  1 1 0
    ";

/// Bytes delivered, elapsed time (first SYN to the last DATA_ACK of data), throughput, shares.
#[test]
fn bytes_elapsed_time_throughput_and_share() {
    let tables = Script::default().run(&format!(
        "{TWO_PATHS}
        200 server wifi A 1    1    1000 dss(1 1 1000, ack 1)
        200 client wifi A 1    1001 0    dss(ack 1001)
        240 server lte  A 1    1    500  dss(1001 1 500, ack 1)
        240 client lte  A 1    501  0    dss(ack 1501)
        250 server wifi A 1001 1    500  dss(1501 1001 500 fin, ack 1)
        250 client wifi A 1    1501 0    dss(ack 2002)
        300 client wifi A 1    1501 0    dss(fin 1, ack 2002)   # no data any more: does not count
        320 server wifi A 1501 1    0    dss(ack 2)
        "
    ));
    // DATA_FIN took number 2001 and is no byte.
    let down = transfer(&tables, Down);
    assert_eq!(down.bytes, 2000);
    assert_eq!(down.elapsed_s, Some(0.25));
    // 2000 × 8 bit / 0.25 s = 64 kbit/s.
    close(down.throughput_mbps, 0.064);
    assert_eq!(only(&tables).duration_s, Some(0.32));
    assert_eq!(only(&tables).ended, "closed");
    let (wifi, lte) = (flow(&tables, 0, Down), flow(&tables, 1, Down));
    assert_eq!((wifi.delivered_bytes, lte.delivered_bytes), (Some(1500), Some(500)));
    assert_eq!((wifi.share, lte.share), (Some(0.75), Some(0.25)));
    // Over the connection's time they add up; over its own time Wi-Fi took 50 ms, LTE no time.
    close(wifi.throughput_mbps, 0.048);
    close(lte.throughput_mbps, 0.016);
    close(wifi.active_throughput_mbps, 0.24);
    assert_eq!(lte.active_throughput_mbps, None);
    // SYN/ACK, two with data, and the DATA_ACK of DATA_FIN.
    assert_eq!((wifi.packets, wifi.data_packets, wifi.data_bytes), (4, 2, 1500));
    let up = transfer(&tables, Up);
    assert_eq!((up.bytes, up.elapsed_s, up.throughput_mbps), (0, None, None));
}

/// Response time: the first data of a request until the last of its response is in order; what overtakes waits, and what
/// is sent again begins no request.
#[test]
fn response_times_at_the_client() {
    let text = format!(
        "{TWO_PATHS}
        200 client wifi A 1    1    200  dss(1 1 200, ack 1)
        201 client wifi A 201  1    100  dss(201 201 100, ack 1)
        230 server wifi A 1    301  1000 dss(1001 1 1000, ack 301)   # LTE brings what comes before
        250 server lte  A 1    1    1000 dss(1 1 1000, ack 301)
        255 client wifi A 201  1001 100  dss(201 201 100, ack 2001)  # once more
        260 server wifi A 1001 301  500  dss(2001 1001 500, ack 301)
        400 client wifi A 301  1501 50   dss(301 301 50, ack 2501)
        420 server wifi A 1501 351  700  dss(2501 1501 700, ack 351)
        500 client lte  A 1    1001 10   dss(351 1 10, ack 3201)     # never answered
        "
    );
    let tables = Script::default().run(&text);
    let down = transfer(&tables, Down);
    assert_eq!((down.responses, down.response_time_ms_mean), (Some(2), Some(40.0)));
    assert_eq!(down.response_time_ms_max, Some(60.0));
    assert_eq!(transfer(&tables, Up).responses, None);
    let rows: Vec<_> = tables
        .responses
        .iter()
        .map(|row| (row.request_bytes, row.response_bytes, row.first_data_ms, row.response_time_ms))
        .collect();
    assert_eq!(rows, [(300, 2500, 50.0, 60.0), (50, 700, 20.0, 20.0)]);
    // The server does not see when anything comes to the client.
    let server = Script::at(Server).run(&format!(
        "{TWO_PATHS_AT_SERVER}
        200 client wifi A 1    1    200  dss(1 1 200, ack 1)
        201 server wifi A 1    201  1000 dss(1 1 1000, ack 201)
        240 client wifi A 201  1001 0    dss(ack 1001)
        "
    ));
    assert_eq!((transfer(&server, Down).responses, server.responses.len()), (None, 0));
}

/// Idle minutes are no part of a response, nor what a server says after them of its own accord; an outage within it is.
#[test]
fn response_times_without_idle_minutes() {
    let tables = Script::default().run(
        "
        0     client wifi S  0    0    0
        20    server wifi SA 0    1    0
        20    client wifi A  1    1    0
        100   client wifi A  1    1    200
        150   server wifi A  1    201  1000
        170   server wifi A  1001 201  500
        30170 server wifi A  1501 201  17     # a ping
        60170 server wifi A  1518 201  31     # close_notify
        60170 server wifi FA 1549 201  0
        60171 client wifi A  201  1550 31     # the client's: never answered
        ",
    );
    let down = transfer(&tables, Down);
    assert_eq!((down.responses, down.response_time_ms_max), (Some(1), Some(70.0)));
    assert_eq!(tables.responses[0].response_bytes, 1500);
    let outage = Script::default().run(
        "
        0     client wifi S  0    0    0
        20    server wifi SA 0    1    0
        20    client wifi A  1    1    0
        100   client wifi A  1    1    200
        150   server wifi A  1    201  1000
        5150  server wifi A  1001 201  100
        5151  server wifi A  1101 201  100
        ",
    );
    assert_eq!(transfer(&outage, Down).response_time_ms_max, Some(5051.0));
}

/// Little that comes long after the whole request was acknowledged is no answer to it: what had the client wait was no
/// network. One that is larger, or came with the acknowledgement, is one.
#[test]
fn response_times_without_what_servers_say_of_their_own_accord() {
    let tables = Script::default().run(
        "
        0     client wifi S  0    0    0
        20    server wifi SA 0    1    0
        20    client wifi A  1    1    0
        100   client wifi A  1    1    200
        120   server wifi A  1    201  0
        150   server wifi A  1    201  1000
        150   client wifi A  201  1001 0
        160   client wifi A  201  1001 50     # an acknowledgement of the application's
        180   server wifi A  1001 251  0
        30180 server wifi A  1001 251  61     # a message for the client
        30181 client wifi A  251  1062 50     # which it acknowledges
        30200 server wifi A  1062 301  0
        60200 server wifi A  1062 301  61     # another one
        60300 client wifi A  301  1123 200
        62300 server wifi A  1123 501  100    # the radio slept: the request was late
        62400 client wifi A  501  1223 200
        62420 server wifi A  1223 701  0
        64400 server wifi A  1223 701  100    # the server thought
        64410 server wifi A  1323 701  100
        ",
    );
    let times: Vec<_> = tables.responses.iter().map(|row| (row.response_bytes, row.response_time_ms)).collect();
    assert_eq!(times, [(1000, 50.0), (100, 2000.0), (200, 2010.0)]);
    assert_eq!(transfer(&tables, Down).responses, Some(3));
}

/// A snap length that cuts the DATA_FIN leaves its acknowledgement: one number more than all data is no byte.
#[test]
fn an_acknowledged_data_fin_that_was_cut_is_no_byte() {
    let tables = Script::default().run(&format!(
        "{TWO_PATHS}
        200 server wifi A 1    1    1000 dss(1 1 1000, ack 1)
        200 client wifi A 1    1001 0    dss(ack 1001)
        300 client lte  A 1    1    0    dss(fin 1, ack 1001) cut(8)
        330 server wifi A 1001 1    0    dss(ack 2)
        340 client wifi A 1    1001 0    dss(ack 1002)
        "
    ));
    assert_eq!((transfer(&tables, Up).bytes, transfer(&tables, Down).bytes), (0, 1000));
    assert!(!diagnostics(&tables).iter().any(|remark| ["missed_bytes", "path_missing"].contains(remark)));
}

/// Plain TCP: elapsed until the last ACK of data; the ACK of the FIN does not count.
#[test]
fn elapsed_time_of_plain_tcp() {
    let tables = Script::default().run(
        "
        0   client wifi S  0    0    0
        20  server wifi SA 0    1    0
        20  client wifi A  1    1    0
        40  server wifi A  1    1    1000
        40  client wifi A  1    1001 0
        500 server wifi FA 1001 1    0
        500 client wifi A  1    1002 0
        ",
    );
    assert_eq!(transfer(&tables, Down).bytes, 1000);
    assert_eq!(transfer(&tables, Down).elapsed_s, Some(0.04));
    assert_eq!(only(&tables).ended, "half-closed");
}
