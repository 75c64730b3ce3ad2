use super::*;

/// A connection's end whose send buffer has room for `room` bytes and that has `arrived` bytes to read.
#[derive(Default)]
struct Wire {
    room: u64,
    arrived: u64,
    finished: u32,
}

impl Transport for Wire {
    fn write(&mut self, _: ConnectionId, bytes: u64) -> u64 {
        let taken = bytes.min(self.room);
        self.room -= taken;
        taken
    }
    fn read(&mut self, _: Time, _: ConnectionId, bytes: u64) -> u64 {
        let read = bytes.min(self.arrived);
        self.arrived -= read;
        read
    }
    fn finish(&mut self, _: Time, _: ConnectionId) {
        self.finished += 1;
    }
    fn abort(&mut self, _: Time, _: ConnectionId) {}
}

#[derive(Default)]
struct Script {
    wire: Wire,
    progress: Progress,
}

impl Script {
    fn with(&mut self, at: i64, act: impl FnOnce(Time, &mut Stream)) {
        let now = Time::from_nanos(at);
        let connection = ConnectionId(0);
        act(now, &mut Stream { now, connection, transport: &mut self.wire, progress: &mut self.progress });
    }

    fn on(&mut self, application: &mut dyn Application, at: i64, event: Event) {
        self.progress.on(&event);
        self.with(at, |now, stream| application.on(now, event, stream));
    }

    fn wake(&mut self, application: &mut dyn Application) -> i64 {
        let at = application.deadline().as_nanos();
        self.with(at, |now, stream| application.wake(now, stream));
        at
    }
}

#[test]
fn bulk_of_a_size_finishes_once_all_is_written() {
    let (mut script, mut bulk) = (Script::default(), Bulk::of_size(1000));
    script.wire.room = 600;
    script.on(&mut bulk, 0, Event::Connected);
    assert_eq!((script.progress.written, script.wire.finished), (600, 0));
    script.wire.room = 600;
    script.on(&mut bulk, 1, Event::Writable);
    assert_eq!((script.progress.written, script.wire.finished), (1000, 1));
    script.on(&mut bulk, 2, Event::Writable);
    assert_eq!(script.wire.finished, 1);
}

#[test]
fn bulk_for_a_time_fills_until_then() {
    let (mut script, mut bulk) = (Script::default(), Bulk::for_time(100));
    script.wire.room = 600;
    script.on(&mut bulk, 7, Event::Connected);
    assert_eq!(script.progress.written, 600);
    assert_eq!(script.wake(&mut bulk), 107);
    assert_eq!(script.wire.finished, 1);
    assert_eq!(bulk.deadline(), Time::MAX);
}

#[test]
fn constant_writes_at_even_times_what_there_is_room_for() {
    // 100 bytes every 1000 ns, for 2500 ns: at 0, 1000 and 2000.
    let (mut script, mut constant) = (Script::default(), Constant::new(800_000_000, 100, 2500));
    script.wire.room = 150;
    script.on(&mut constant, 0, Event::Connected);
    assert_eq!(script.progress.written, 100);
    assert_eq!(script.wake(&mut constant), 1000);
    assert_eq!(script.progress.written, 150);
    assert_eq!(script.wake(&mut constant), 2000);
    assert_eq!((script.wire.finished, constant.deadline()), (0, Time::MAX));
    script.wire.room = 1000;
    script.on(&mut constant, 3000, Event::Writable);
    assert_eq!((script.progress.written, script.wire.finished), (300, 1));
}

#[test]
fn idle_says_nothing_for_a_while_and_then_what_there_is_room_for() {
    let (mut script, mut idle) = (Script::default(), Idle::new(5000, 100));
    // There is room all the time, of which it makes no use.
    script.wire.room = 60;
    script.on(&mut idle, 10, Event::Connected);
    script.on(&mut idle, 20, Event::Writable);
    assert_eq!((script.progress.written, script.wire.finished), (0, 0));
    assert_eq!(script.wake(&mut idle), 5010);
    assert_eq!((script.progress.written, script.wire.finished, idle.deadline()), (60, 0, Time::MAX));
    script.wire.room = 1000;
    script.on(&mut idle, 5020, Event::Writable);
    assert_eq!((script.progress.written, script.wire.finished), (100, 1));
}

#[test]
fn requests_are_answered_and_thought_over() {
    let (mut asks, mut requester) = (Script::default(), Requester::new(10, 25, 2, 50));
    let (mut answers, mut responder) = (Script::default(), Responder::new(10, 25));
    asks.wire.room = u64::MAX;
    answers.wire.room = u64::MAX;
    asks.on(&mut requester, 0, Event::Connected);
    assert_eq!(asks.progress.written, 10);
    for part in [4, 6] {
        answers.wire.arrived = part;
        answers.on(&mut responder, 1, Event::Readable);
    }
    assert_eq!(answers.progress.written, 25);
    asks.wire.arrived = 25;
    asks.on(&mut requester, 2, Event::Readable);
    assert_eq!(asks.wake(&mut requester), 52);
    assert_eq!(asks.progress.written, 20);
    asks.wire.arrived = 25;
    asks.on(&mut requester, 60, Event::Readable);
    assert_eq!((asks.wire.finished, requester.deadline()), (1, Time::MAX));
    answers.wire.arrived = 10;
    answers.on(&mut responder, 61, Event::Finished);
    assert_eq!((answers.progress.written, answers.wire.finished), (50, 1));
}

#[test]
fn a_sink_reads_all_and_finishes_with_its_peer() {
    let mut script = Script::default();
    script.wire.arrived = 9;
    script.on(&mut Sink, 0, Event::Readable);
    assert_eq!((script.progress.read, script.wire.finished), (9, 0));
    script.on(&mut Sink, 1, Event::Finished);
    assert_eq!(script.wire.finished, 1);
    assert!(!script.progress.is_done());
    script.on(&mut Sink, 2, Event::Delivered);
    assert!(script.progress.is_done());
}
