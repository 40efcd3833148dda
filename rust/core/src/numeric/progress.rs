//! How far countable work is, for whoever shows it: of the work that was begun last, in whatever thread.
//!
//! Nothing depends on it. Where several works run side by side, as on a server, it says nothing of use.

use std::sync::atomic::{AtomicUsize, Ordering};

static ROUNDS: AtomicUsize = AtomicUsize::new(0);
static DONE: AtomicUsize = AtomicUsize::new(0);

/// Work of so many rounds begins.
pub fn begin(rounds: usize) {
    DONE.store(0, Ordering::Relaxed);
    ROUNDS.store(rounds, Ordering::Relaxed);
}

/// A round is done.
pub fn done() {
    DONE.fetch_add(1, Ordering::Relaxed);
}

/// The share of the rounds that are done; `None` where no work is under way.
pub fn share() -> Option<f64> {
    let (done, rounds) = (DONE.load(Ordering::Relaxed), ROUNDS.load(Ordering::Relaxed));
    (0 < done && done < rounds).then(|| done as f64 / rounds as f64)
}
