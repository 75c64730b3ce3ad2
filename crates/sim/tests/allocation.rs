//! In the long run nothing is allocated for a packet.

#![expect(unsafe_code, reason = "an allocator cannot be written without")]

mod common;

use common::wifi_lte;
use serde_json::json;
use sim::Simulation;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: the system's allocator does all the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn packets_allocate_nothing_in_the_long_run() {
    let mut scenario = wifi_lte(1 << 30);
    scenario["settings"]["sample_ns"] = json!(0);
    let mut simulation = Simulation::from_json(&scenario.to_string()).unwrap();
    assert!(simulation.run(&mut (), 40_000).is_none(), "it goes on");
    let before = (ALLOCATIONS.get(), simulation.packets());
    assert!(before.0 > 100, "the counter counts");
    assert!(simulation.run(&mut (), 40_000).is_none(), "it goes on");
    let (allocations, packets) = (ALLOCATIONS.get() - before.0, simulation.packets() - before.1);
    // Queues that grow longer than ever take room, as do the records of drops.
    assert!(packets > 10_000 && allocations < packets / 100, "{allocations} allocations for {packets} packets");
}
