//! Panics of a test that runs for many seeds: not printed, and told with their place.
//!
//! The first failure of a sweep is run hundreds of times to make it smaller; only its last report
//! is for people. Whether a panic is expected is known by thread, so threads that a world starts
//! take it over from the one that started them.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;
use std::thread;

/// A panic that was expected.
pub(super) struct Panicked {
    /// File, line and column.
    pub(super) place: String,
    /// What it said.
    pub(super) words: String,
}

/// Runs on this thread without printing a panic, and returns it instead.
pub(super) fn quietly<R>(run: impl FnOnce() -> R) -> Result<R, Panicked> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if is_quiet() {
                let place = info.location().map(ToString::to_string);
                LAST_PLACE.with_borrow_mut(|last| *last = place);
            } else {
                before(info);
            }
        }));
    });
    let was = IS_QUIET.replace(true);
    let outcome = panic::catch_unwind(AssertUnwindSafe(run));
    IS_QUIET.set(was);
    outcome.map_err(|payload| Panicked {
        place: LAST_PLACE.take().unwrap_or_default(),
        words: words(payload.as_ref()).to_owned(),
    })
}

/// Whether a failure on this thread is one of many runs, and is to say nothing.
pub(super) fn is_quiet() -> bool {
    IS_QUIET.get()
}

/// Runs on a thread of its own, as quiet as this one; a panic there is one of this thread.
pub(super) fn on_another_thread<R: Send>(run: impl FnOnce() -> R + Send) -> R {
    let is_quiet = is_quiet();
    let caught = thread::scope(|scope| {
        let body = move || {
            IS_QUIET.set(is_quiet);
            let result = panic::catch_unwind(AssertUnwindSafe(run));
            (result, LAST_PLACE.take())
        };
        scope.spawn(body).join()
    });
    let (result, place) = caught.expect("the thread catches every panic");
    if place.is_some() {
        LAST_PLACE.set(place);
    }
    result.unwrap_or_else(|payload| panic::resume_unwind(payload))
}

fn words(payload: &(dyn Any + Send)) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic without words")
}

thread_local! {
    /// Whether panics of this thread are expected.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
    /// Where the last of them was.
    static LAST_PLACE: RefCell<Option<String>> = const { RefCell::new(None) };
}
