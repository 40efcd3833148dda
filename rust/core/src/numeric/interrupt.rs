//! Long work that its caller can cancel.
//! Loops call [`check`] in every round. If the work runs under [`interruptible`], the thread that called that asks its
//! caller now and then whether to continue; when the answer is no, every thread of the work ends at its next check.
//! Work ends by unwinding, so that loops need not pass on a result that is almost never used.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the caller is asked.
pub const PATIENCE: Duration = Duration::from_millis(50);

/// The work was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupted;

thread_local! {
    static WATCH: RefCell<Option<Watch>> = const { RefCell::new(None) };
}

/// What a thread knows of the work that it is part of.
#[derive(Clone)]
pub struct Watch {
    given_up: Arc<AtomicBool>,
    /// How to ask the caller, and when that was done last; only the caller's own thread asks.
    ask: Option<(fn() -> bool, Instant)>,
}

impl Watch {
    /// The watch of this thread's work, for the threads that it starts.
    pub fn current() -> Option<Self> {
        WATCH.with_borrow(|watch| watch.as_ref().map(|watch| Self { given_up: watch.given_up.clone(), ask: None }))
    }

    /// Runs a part of the work on another thread.
    pub fn during<R>(watch: Option<Self>, work: impl FnOnce() -> R) -> R {
        WATCH.set(watch);
        work()
    }
}

/// Runs the work until `ask` says to cancel it.
pub fn interruptible<R>(ask: fn() -> bool, work: impl FnOnce() -> R) -> Result<R, Interrupted> {
    let watch = Watch { given_up: Arc::default(), ask: Some((ask, Instant::now())) };
    // Work may call Python, which may start other work: each has its own watch.
    let outer = WATCH.replace(Some(watch));
    let outcome = catch_unwind(AssertUnwindSafe(work));
    WATCH.set(outer);
    match outcome {
        Ok(made) => Ok(made),
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
