//! Scoped threads over contiguous parts of the work.
//!
//! Threads end with the call, so nothing survives a `fork` (data-loader workers are safe), and every part's result
//! goes to a place that depends only on its position, so the answer is the same bits for any number of threads.

use std::convert::Infallible;
use std::ops::Range;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, OnceLock};
use std::thread;

use crate::numeric::interrupt::{PATIENCE, Watch, check, given_up};

/// The number of threads to use: `requested`, or one per core when it is 0.
pub fn thread_count(requested: usize) -> usize {
    // Finding the number of cores reads several files.
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
///
/// Rounds of `work` that can be many or long call [`check`].
pub fn map_parts<R: Send>(len: usize, threads: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let parts = thread_count(threads).clamp(1, len.max(1));
    if parts == 1 {
        return vec![work(0..len)];
    }
    let bound = |part: usize| len * part / parts;
    thread::scope(|scope| {
        let work = &work;
        let (working, ended) = channel::<Infallible>();
        let handles: Vec<_> = (0..parts)
            .map(|part| {
                let (watch, working) = (Watch::current(), working.clone());
                scope.spawn(move || {
                    let _ends_with_the_part = working;
                    Watch::during(watch, || work(bound(part)..bound(part + 1)))
                })
            })
            .collect();
        drop(working);
        // This thread only waits, and is the one that can learn that nobody wants the result any more.
        while ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            given_up();
        }
        let parts = handles
            .into_iter()
            .map(|handle| handle.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect();
        check();
        parts
    })
}

/// Maps each item with its number, which the work may change; results come in order.
pub fn map_mut<T: Send, R: Send>(items: &mut [T], threads: usize, work: impl Fn(usize, &mut T) -> R + Sync) -> Vec<R> {
    let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    let one = |number: usize| work(number, &mut items[number].lock().expect("no other thread has this item"));
    map_parts(items.len(), threads, |numbers| numbers.map(one).collect::<Vec<_>>()).into_iter().flatten().collect()
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
    #[test]
    fn each_item_is_changed_once() {
        for threads in 1..5 {
            let mut items = [0; 7];
            let numbers = map_mut(&mut items, threads, |number, item| {
                *item += number;
                number
            });
            assert_eq!((items, numbers), ([0, 1, 2, 3, 4, 5, 6], (0..7).collect()));
        }
    }
}
