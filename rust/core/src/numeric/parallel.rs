//! Scoped threads over contiguous parts of the work.
//!
//! Threads end with the call, so nothing survives a `fork` (data-loader workers are safe), and every part's result
//! goes to a place that depends only on its position, so the answer is the same bits for any number of threads.

use std::cell::RefCell;
use std::convert::Infallible;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

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
                let working = working.clone();
                let watch = WATCH.with_borrow(|watch| {
                    watch.as_ref().map(|watch| Watch { given_up: watch.given_up.clone(), ask: None })
                });
                scope.spawn(move || {
                    let _ends_with_the_part = working;
                    WATCH.set(watch);
                    work(bound(part)..bound(part + 1))
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

/// Maps each of so many items, by its number, with what each thread works in; results come in order.
///
/// Calls [`check`] before each.
pub fn map_each<M, R: Send>(
    len: usize,
    threads: usize,
    memory: impl Fn() -> M + Sync,
    work: impl Fn(&mut M, usize) -> R + Sync,
) -> Vec<R> {
    let parts = map_parts(len, threads, |range| {
        let mut memory = memory();
        let checked = |number| {
            check();
            work(&mut memory, number)
        };
        range.map(checked).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

/// Maps each item with its number, which the work may change; results come in order.
pub fn map_mut<T: Send, R: Send>(items: &mut [T], threads: usize, work: impl Fn(usize, &mut T) -> R + Sync) -> Vec<R> {
    let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    let work_on = |number: usize| work(number, &mut items[number].lock().expect("no other thread has this item"));
    map_each(items.len(), threads, || (), |(), number| work_on(number))
}

// Long work that its caller can cancel.
// Loops call [`check`] in every round. If the work runs under [`interruptible`], the thread that called that asks its
// caller now and then whether to continue; when the answer is no, every thread of the work ends at its next check.
// Work ends by unwinding, so that loops need not pass on a result that is almost never used.

/// How often the caller is asked.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// The work was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// What a thread knows of the work that it is part of.
struct Watch {
    given_up: Arc<AtomicBool>,
    /// How to ask the caller, and when that was done last; only the caller's own thread asks.
    ask: Option<(fn() -> bool, Instant)>,
}

/// Runs the work until `ask` says to cancel it.
pub fn interruptible<R>(ask: fn() -> bool, work: impl FnOnce() -> R) -> Result<R, Interrupted> {
    let watch = Watch { given_up: Arc::default(), ask: Some((ask, Instant::now())) };
    // Work may call Python, which may start other work: each has its own watch.
    let outer = WATCH.replace(Some(watch));
    let outcome = catch_unwind(AssertUnwindSafe(work));
    WATCH.set(outer);
    match outcome {
        Ok(result) => Ok(result),
        Err(payload) if payload.is::<Interrupted>() => Err(Interrupted),
        Err(payload) => resume_unwind(payload),
    }
}

/// Ends this thread's part of the work if the work was cancelled.
pub fn check() {
    if given_up() {
        resume_unwind(Box::new(Interrupted));
    }
}

/// Whether the work was cancelled; asks when it is time to.
pub fn given_up() -> bool {
    let due = WATCH.with_borrow_mut(|watch| {
        let (ask, last) = watch.as_mut()?.ask.as_mut()?;
        let now = Instant::now();
        (now - *last >= PATIENCE).then(|| {
            *last = now;
            *ask
        })
    });
    // Asking runs the caller's code, which must find the watch free.
    let refused = due.is_some_and(|ask| ask());
    WATCH.with_borrow(|watch| {
        watch.as_ref().is_some_and(|watch| {
            if refused {
                watch.given_up.store(true, Ordering::Relaxed);
            }
            watch.given_up.load(Ordering::Relaxed)
        })
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

#[cfg(test)]
mod interrupt_tests {
    use super::*;
    use crate::numeric::parallel::map_parts;

    #[test]
    fn work_that_is_given_up_ends_on_every_thread() {
        let endless = || loop {
            check();
            std::thread::yield_now();
        };
        assert_eq!(interruptible(|| true, endless), Err::<(), _>(Interrupted));
        let parts = || map_parts(4, 4, |_| endless());
        assert_eq!(interruptible(|| true, parts), Err::<Vec<()>, _>(Interrupted));
        assert!(WATCH.with_borrow(Option::is_none));
    }

    #[test]
    fn work_that_goes_on_gives_its_result() {
        let parts = || map_parts(100, 3, |range| range.inspect(|_| check()).sum::<usize>()).iter().sum::<usize>();
        assert_eq!(interruptible(|| false, parts), Ok(4950));
        assert_eq!(parts(), 4950);
    }

    #[test]
    fn work_inside_work_has_a_watch_of_its_own() {
        let outer = || {
            let inner = interruptible(
                || true,
                || loop {
                    check();
                },
            );
            (inner, given_up())
        };
        assert_eq!(interruptible(|| false, outer), Ok((Err::<(), _>(Interrupted), false)));
    }

    #[test]
    fn a_panic_goes_on() {
        let panicking = || interruptible(|| true, || resume_unwind(Box::new("other")));
        let payload = catch_unwind(panicking).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"other"));
    }
}
