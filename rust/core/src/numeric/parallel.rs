//! Scoped threads over contiguous parts of the work.
//!
//! Threads end with the call, so nothing survives a `fork` (data-loader workers are safe), and every part's result
//! lands in a place that its position alone decides, so the answer is the same bits for any number of threads.

use std::ops::Range;
use std::sync::OnceLock;
use std::thread;

/// The number of threads to use: `requested`, or one per core when it is 0.
pub fn thread_count(requested: usize) -> usize {
    // Asking for the number of cores reads several files.
    static CORES: OnceLock<usize> = OnceLock::new();
    if requested > 0 {
        requested
    } else {
        *CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from))
    }
}

/// The number of threads to use for `work`, measured in units of which `worth` take longer than to start a thread.
pub fn threads_for(requested: usize, work: usize, worth: usize) -> usize {
    let most = work / worth;
    if most < 2 { 1 } else { thread_count(requested).min(most) }
}

/// Cuts `0..len` into at most `threads` contiguous parts and maps each; results come in order.
pub fn map_parts<R: Send>(len: usize, threads: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let parts = thread_count(threads).clamp(1, len.max(1));
    if parts == 1 {
        return vec![work(0..len)];
    }
    let bound = |part: usize| len * part / parts;
    thread::scope(|scope| {
        let work = &work;
        let handles: Vec<_> = (0..parts).map(|part| scope.spawn(move || work(bound(part)..bound(part + 1)))).collect();
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_work_takes_one_thread() {
        assert_eq!([0, 63, 64, 127, 128, 1_000].map(|work| threads_for(4, work, 64)), [1, 1, 1, 1, 2, 4]);
    }

    #[test]
    fn parts_cover_the_range_in_order_for_any_thread_count() {
        for len in [0, 1, 2, 7, 100] {
            for threads in 1..9 {
                let all: Vec<usize> = map_parts(len, threads, Iterator::collect::<Vec<_>>).concat();
                assert_eq!(all, (0..len).collect::<Vec<_>>());
            }
        }
    }
}
