use super::*;

fn sender(written: u64, window: u64) -> Send {
    let mut send = Send::new();
    send.set_buffer(1 << 20, 0);
    send.write(written, send.room(), false);
    send.acknowledged(0, window);
    send
}

#[test]
fn window_holds_new_data_back_and_its_edge_stays() {
    let mut send = sender(5000, 3000);
    assert_eq!(send.due(), Due::New { bytes: 5000, window_bytes: 3000 });
    send.give(1000, 0);
    send.give(2000, 1);
    assert_eq!(send.due(), Due::Blocked);
    assert!(send.acknowledged(1000, 2500), "is news");
    assert_eq!(send.due(), Due::New { bytes: 2000, window_bytes: 500 });
    assert!(!send.acknowledged(0, 2500), "an older one is none");
    assert!(!send.acknowledged(1000, 1000));
    assert_eq!(send.due(), Due::New { bytes: 2000, window_bytes: 500 }, "a smaller window takes nothing back");
    assert!(!send.acknowledged(4000, 1000), "never sent");
}

#[test]
fn pages_are_filled_anew_once_nothing_of_them_is_held() {
    // Linux 6.18: of responses of 150 kB, each a second after the last, each begins with two whole fragments on one subflow.
    let mut send = sender(5000, 9000);
    send.give(5000, 0);
    send.acknowledged(4000, 9000);
    send.write(1000, send.room(), false);
    assert_eq!(send.pages(), 0);
    send.give(1000, 0);
    send.acknowledged(6000, 9000);
    assert_eq!(send.pages(), 0);
    send.write(1000, send.room(), false);
    assert_eq!(send.pages(), 6000);
    send.write(1000, send.room(), false);
    assert_eq!(send.pages(), 6000);
}

#[test]
fn pieces_are_given_again_oldest_first_and_not_once_acknowledged() {
    let mut send = sender(3000, 3000);
    for _ in 0..3 {
        send.give(1000, 0);
    }
    send.reinject(2000, 3000, None);
    send.reinject(1500, 1600, Some(0));
    let Due::Again(piece) = send.due() else { panic!("{:?}", send.due()) };
    assert_eq!((piece.data_offset, piece.len, piece.sent_on), (1000, 1000, 0), "the piece that holds the byte");
    send.give_again(1000, 3);
    let Due::Again(piece) = send.due() else { panic!("{:?}", send.due()) };
    assert_eq!((piece.data_offset, piece.sent_on), (2000, 1));
    send.acknowledged(3000, 1000);
    assert_eq!(send.due(), Due::Nothing);
}

#[test]
fn all_writes_go_again_that_one_segment_held() {
    let mut send = sender(100, 3000);
    send.give(100, 0);
    send.write(100, send.room(), false);
    send.extend(100, 0);
    send.acknowledged(50, 3000);
    send.reinject(0, 200, Some(0));
    assert_eq!(send.again_bytes(3000), 200);
}

#[test]
fn the_end_goes_with_the_last_bytes_or_alone() {
    let mut send = sender(2000, 3000);
    send.give(1000, 0);
    send.close();
    assert_eq!(send.end(), None);
    assert!(send.give(1000, 0).end);
    assert!(!send.end_alone());
    assert!(send.acknowledged(2001, 0));
    assert!(send.delivered());

    let mut send = sender(2000, 3000);
    send.give(2000, 0);
    send.close();
    assert!(send.end_alone(), "the bytes had gone before");
}
