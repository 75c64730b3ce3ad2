use crate::Error;
use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// The event's data that means "stop".
const STOP: u64 = u64::MAX;

/// Tells all threads to end.
#[derive(Clone, Debug)]
pub(crate) struct Stop(Arc<OwnedFd>);

impl Stop {
    pub fn new() -> Result<Stop, Error> {
        let event = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        event.map(|event| Stop(Arc::new(event))).map_err(|error| Error::Wait(error.into()))
    }

    pub fn stop(&self) {
        // It is never read, so it stays up for all; that it is up already is as good.
        let _ = rustix::io::write(&*self.0, &1_u64.to_ne_bytes());
    }
}

/// Devices that are reported at a time at most; the others follow.
const EVENTS: usize = 64;

/// Waits for devices and times.
#[derive(Debug)]
pub(crate) struct Wait {
    epoll: OwnedFd,
    _stop: Stop,
}

impl Wait {
    pub fn new(stop: Stop) -> Result<Wait, Error> {
        let made = epoll::create(CreateFlags::CLOEXEC).and_then(|epoll| {
            epoll::add(&epoll, &*stop.0, EventData::new_u64(STOP), EventFlags::IN)?;
            Ok(Wait { epoll, _stop: stop })
        });
        made.map_err(|error| Error::Wait(error.into()))
    }

    /// Waits for the device too; `number` is what it will be called.
    pub fn add(&self, number: usize, device: impl AsFd) -> Result<(), Error> {
        let added = epoll::add(&self.epoll, device, EventData::new_u64(number as u64), EventFlags::IN);
        added.map_err(|error| Error::Wait(error.into()))
    }

    /// Waits for the device no more.
    pub fn remove(&self, device: impl AsFd) {
        // One that is not waited for is as good.
        let _ = epoll::delete(&self.epoll, device);
    }

    /// Waits so many nanoseconds at most; gives the devices that can be read, and says whether to stop.
    pub fn wait(&self, nanos: i64, readable: &mut Vec<usize>) -> Result<bool, Error> {
        let nanos = nanos.max(0);
        let timeout = Timespec { tv_sec: nanos / 1_000_000_000, tv_nsec: nanos % 1_000_000_000 };
        let mut events = [const { MaybeUninit::<Event>::uninit() }; EVENTS];
        readable.clear();
        let ready = match epoll::wait(&self.epoll, &mut events, Some(&timeout)) {
            Ok((ready, _)) => ready,
            Err(Errno::INTR) => return Ok(false),
            Err(error) => return Err(Error::Wait(error.into())),
        };
        let mut stopped = false;
        for event in ready {
            match event.data.u64() {
                STOP => stopped = true,
                device => readable.push(device as usize),
            }
        }
        Ok(stopped)
    }
}
