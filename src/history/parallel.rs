//! One call for every item, on all CPUs.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Calls `each` for every item, on all CPUs; the answers come in the order of the items.
pub(super) fn in_parallel<T: Sync, R: Send>(items: &[T], each: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { return done };
            done.push((number, each(item)));
        }
    };
    let workers = thread::available_parallelism().map_or(1, usize::from).min(items.len().max(1));
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        let handles: Vec<_> = (1..workers).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for handle in handles {
            all.extend(handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        all
    });
    all.sort_unstable_by_key(|(number, _)| *number);
    all.into_iter().map(|(_, answer)| answer).collect()
}
