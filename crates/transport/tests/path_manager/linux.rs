//! `linux`, as ip-mptcp(8) describes it.

use crate::bench::{
    FAR, LTE, NEAR, WIFI, announce, announced, begun, closed, down, endpoint, ip, join, linux, opened, socket, up,
    withdraw,
};
use transport::path_manager::{Closed, PathCommand, PathEvent};

/// ip-mptcp(8): subflow
#[test]
fn linux_opens_subflows_from_endpoints() {
    let endpoints = [endpoint(WIFI, "subflow"), endpoint(LTE, "subflow backup"), endpoint("10.2.0.1", "")];
    let mut client = linux(&endpoints, 2, 0).after(&[up(WIFI), up(LTE), up("10.2.0.1")]);
    let backup = PathCommand::Join { local: ip(LTE), remote: socket(NEAR), backup: true };
    assert_eq!(client.on(begun(true)), [backup], "the initial subflow's endpoint had its turn");
    assert_eq!(client.on(announced(1, FAR)), [], "add_addr_accepted 0");
    client.on(opened(1, LTE, NEAR));
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::TimedOut)), [], "not opened again");
    assert_eq!(client.on(down(LTE)), [withdraw(LTE)]);
    assert_eq!(client.on(up(LTE)), [backup], "a new endpoint");
    let mut server = linux(&endpoints, 2, 0).after(&[up(LTE)]);
    assert_eq!(server.on(begun(false)), [], "the client opens");
}

#[test]
fn linux_keeps_to_its_limits() {
    let third = "10.2.0.1";
    let endpoints = [endpoint(LTE, "subflow"), endpoint(third, "subflow")];
    let mut client = linux(&endpoints, 1, 8).after(&[up(WIFI), up(LTE), up(third)]);
    assert_eq!(client.on(begun(true)), [join(LTE, NEAR)]);
    assert_eq!(client.on(announced(1, FAR)), [], "no room for a subflow");
    // mptcp_pm_subflow_check_next: the next endpoint's turn.
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Reset)), [join(third, NEAR)]);
    let mut none = linux(&endpoints, 0, 0).after(&[up(LTE)]);
    assert_eq!(none.on(begun(true)), []);
}

/// ip-mptcp(8): signal
#[test]
fn linux_announces_endpoints() {
    let endpoints = [endpoint("192.0.2.1", "signal"), endpoint("192.0.2.2", "signal")];
    let mut server = linux(&endpoints, 2, 0).after(&[up("192.0.2.1"), up("192.0.2.2")]);
    assert_eq!(server.on(begun(false)), [announce("192.0.2.2")]);
    server.on(opened(1, "192.0.2.2", "10.0.0.1:5001"));
    assert_eq!(server.on(down("192.0.2.2")), [withdraw("192.0.2.2"), PathCommand::Close { subflow: 1 }]);
    assert_eq!(server.on(up("192.0.2.2")), [announce("192.0.2.2")]);
}

#[test]
fn linux_joins_what_is_announced() {
    // Without fullmesh endpoints: from where the routes lead.
    let mut client = linux(&[endpoint(LTE, "subflow")], 8, 1).after(&[up(WIFI), up(LTE), begun(true)]);
    assert_eq!(client.on(announced(1, NEAR)), [], "lookup_subflow_by_daddr");
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR)]);
    assert_eq!(client.on(announced(2, "192.0.2.3:443")), [], "one is accepted");
    client.on(PathEvent::Withdrawn { id: 1 });
    assert_eq!(client.on(announced(2, "192.0.2.3:443")), [join(WIFI, "192.0.2.3:443")]);
    // With them: from each.
    let meshed = [endpoint(WIFI, "subflow fullmesh"), endpoint(LTE, "subflow fullmesh")];
    let mut client = linux(&meshed, 8, 8).after(&[up(WIFI), up(LTE)]);
    assert_eq!(client.on(begun(true)), [join(LTE, NEAR)]);
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR), join(LTE, FAR)], "four subflows");
    // An endpoint that comes late meets every address known.
    let mut client = linux(&meshed, 8, 8).after(&[up(WIFI), begun(true), announced(1, FAR)]);
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR), join(LTE, FAR)]);
}
