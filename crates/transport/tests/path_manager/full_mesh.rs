//! `full-mesh`: every address of one end to every address of the other.

use crate::bench::{
    Bench, FAR, FAR_SIX, LTE, NEAR, SIX, WIFI, announce, announced, begun, closed, down, endpoint, ip, join, opened,
    settings, socket, up, wake, withdraw,
};
use transport::path_manager::{Closed, PathCommand, PathEvent, Settings};

#[test]
fn full_mesh_of_two_by_two_has_four_subflows() {
    let mut client = Bench::named("full-mesh");
    assert_eq!(client.on(begun(true)), []);
    assert_eq!(client.on(up(WIFI)), [], "the pair that it began with");
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR)]);
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR), join(LTE, FAR)]);
    assert_eq!(client.on(announced(1, FAR)), [], "said again");
    assert_eq!(client.on(up(SIX)), [], "no partner of its family");
    assert_eq!(client.on(announced(2, FAR_SIX)), [join(SIX, FAR_SIX)]);
}

#[test]
fn full_mesh_servers_announce() {
    let mut server = Bench::named("full-mesh").after(&[up("192.0.2.1"), up("192.0.2.2")]);
    assert_eq!(server.on(begun(false)), [announce("192.0.2.2")]);
    assert_eq!(server.on(up("192.0.2.3")), [announce("192.0.2.3")]);
    assert_eq!(server.on(announced(1, "10.1.0.1:5000")), [], "clients are behind NATs");
    server.on(opened(1, "192.0.2.3", "10.0.0.1:5001"));
    assert_eq!(server.on(down("192.0.2.3")), [withdraw("192.0.2.3"), PathCommand::Close { subflow: 1 }]);
    assert_eq!(server.on(closed(1, "192.0.2.3", "10.0.0.1:5001", Closed::Removed)), []);
    assert_eq!(server.on(up("192.0.2.3")), [announce("192.0.2.3")]);
}

#[test]
fn full_mesh_follows_addresses() {
    let mut client = Bench::named("full-mesh").after(&[begun(true), up(WIFI), up(LTE), opened(1, LTE, NEAR)]);
    // The connection may close what lost its address before it tells of the address.
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::AddressLost)), []);
    assert_eq!(client.on(down(LTE)), [withdraw(LTE)]);
    assert_eq!(client.at(1), [], "there is nothing to join from");
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR)]);
    client.on(opened(2, LTE, NEAR));
    assert_eq!(client.on(down(LTE)), [withdraw(LTE), PathCommand::Close { subflow: 2 }]);
    assert_eq!(client.on(closed(2, LTE, NEAR, Closed::Removed)), []);
    // The peer's addresses too.
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR)]);
    assert_eq!(client.on(PathEvent::Withdrawn { id: 1 }), []);
    assert_eq!(client.on(closed(3, WIFI, FAR, Closed::Removed)), []);
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR)], "not to what was withdrawn");
    assert_eq!(client.on(announced(1, FAR)), [join(WIFI, FAR), join(LTE, FAR)]);
}

#[test]
fn full_mesh_tries_again_with_growing_waits() {
    let mut client = Bench::named("full-mesh").after(&[begun(true), up(WIFI), up(LTE)]);
    let mut at = 0;
    for wait in [1, 2, 4, 8, 16, 30, 30] {
        assert_eq!(client.on(closed(1, LTE, NEAR, Closed::TimedOut)), [wake(wait)]);
        at += wait;
        assert_eq!(client.at(at), [join(LTE, NEAR)]);
    }
    client.on(opened(1, LTE, NEAR));
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Reset)), [wake(1)], "once open all is forgotten");
    // The initial subflow as well.
    assert_eq!(client.on(closed(0, WIFI, NEAR, Closed::TimedOut)), []);
    assert_eq!(client.at(at + 1), [join(WIFI, NEAR), join(LTE, NEAR)]);
}

#[test]
fn full_mesh_gives_up_what_is_refused_or_done() {
    let mut client = Bench::named("full-mesh").after(&[begun(true), up(WIFI), up(LTE)]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Refused)), [wake(1)]);
    assert_eq!(client.at(1), [join(LTE, NEAR)]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Refused)), [wake(2)]);
    assert_eq!(client.at(3), [join(LTE, NEAR)]);
    assert_eq!(client.on(closed(1, LTE, NEAR, Closed::Refused)), []);
    assert_eq!(client.at(1000), []);
    assert_eq!(client.on(up(LTE)), [join(LTE, NEAR)], "the interface may be in another network");
    for reason in [Closed::Finished, Closed::Protocol, Closed::Removed] {
        let mut client = Bench::named("full-mesh").after(&[begun(true), up(WIFI), up(LTE), opened(1, LTE, NEAR)]);
        assert_eq!(client.on(closed(1, LTE, NEAR, reason)), [], "{reason:?}");
        assert_eq!(client.at(1000), [], "{reason:?}");
    }
}

#[test]
fn full_mesh_keeps_to_its_settings() {
    let settings = Settings {
        endpoints: vec![endpoint(WIFI, "backup"), endpoint(LTE, "backup")],
        max_subflows: 2,
        max_add_addr_accepted: 1,
        ..settings("full-mesh")
    };
    let mut client = Bench::new(settings);
    assert_eq!(client.on(begun(true)), [PathCommand::SetBackup { subflow: 0, backup: true }]);
    client.on(up(WIFI));
    let backup = |local, remote| PathCommand::Join { local: ip(local), remote: socket(remote), backup: true };
    assert_eq!(client.on(up(LTE)), [backup(LTE, NEAR)]);
    assert_eq!(client.on(announced(1, FAR)), [backup(WIFI, FAR)], "two further subflows");
    assert_eq!(client.on(closed(2, LTE, NEAR, Closed::Finished)), [backup(LTE, FAR)], "room for another");
    client.on(closed(3, LTE, FAR, Closed::Finished));
    assert_eq!(client.on(announced(2, "192.0.2.3:443")), [], "one announced address");
}
