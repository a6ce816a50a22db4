//! Time for deadlines: a clock that runs on while the machine is suspended, and one alarm on it.
//!
//! `CLOCK_MONOTONIC` stops during suspend, so a node that slept for an hour would take an hour-old
//! heartbeat for a fresh one. Everything that is a deadline is therefore read off `CLOCK_BOOTTIME`.
//! The wall clock appears in logs and in what people read, never here.

use std::io;
use std::os::fd::OwnedFd;
#[cfg(feature = "sim")]
use std::sync::Arc;
#[cfg(feature = "sim")]
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use rustix::time::{
    ClockId, Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, clock_gettime,
    timerfd_create, timerfd_settime,
};
use tanist_core::Time;
use tokio::io::unix::AsyncFd;

/// Microseconds since this machine was started, those asleep included. All processes of one
/// machine read the same.
#[must_use]
pub fn now() -> Time {
    let time = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_nsec).unwrap_or(0) / 1000;
    Time::from_micros(seconds * MICROS + micros)
}

/// The clock that a node goes by.
#[derive(Clone, Debug)]
pub(crate) enum Clock {
    /// The machine's: [`now`], and the wall clock beside it.
    Machine,
    /// That of a simulated world, in microseconds since its beginning.
    #[cfg(feature = "sim")]
    Simulated(Arc<AtomicU64>),
}

impl Clock {
    /// The time for deadlines.
    pub(crate) fn now(&self) -> Time {
        match self {
            Self::Machine => now(),
            #[cfg(feature = "sim")]
            Self::Simulated(micros) => Time::from_micros(micros.load(Ordering::Relaxed)),
        }
    }

    /// The time for people. A simulated world begins with 1970.
    pub(crate) fn wall(&self) -> SystemTime {
        match self {
            Self::Machine => SystemTime::now(),
            #[cfg(feature = "sim")]
            Self::Simulated(_) => SystemTime::UNIX_EPOCH + self.now().since(Time::ZERO),
        }
    }
}

/// One alarm that can be set to any moment, and set again.
#[derive(Debug)]
pub(crate) struct Alarm {
    timer: AsyncFd<OwnedFd>,
    set_to: Time,
}

impl Alarm {
    /// An alarm that is not set. Needs a tokio runtime with I/O.
    pub(crate) fn new() -> io::Result<Self> {
        let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
        let timer = timerfd_create(TimerfdClockId::Boottime, flags)?;
        #[expect(deprecated, reason = "sound for an OwnedFd, which nothing else closes")]
        let timer = AsyncFd::new(timer)?;
        Ok(Self { timer, set_to: Time::NEVER })
    }

    /// Rings at the given moment, at once if that is past, and not at all if it is
    /// [`Time::NEVER`].
    ///
    /// An alarm that is set too early is left as it is: the driver looks at its deadlines
    /// anyway, and one spurious wake costs less than a system call for every heartbeat heard.
    pub(crate) fn set(&mut self, to: Time) -> io::Result<()> {
        if self.set_to <= to {
            return Ok(());
        }
        self.set_to = to;
        // An all-zero moment would switch the timer off.
        let micros = to.as_micros().max(1);
        let at = Timespec {
            tv_sec: i64::try_from(micros / MICROS).unwrap_or(i64::MAX),
            tv_nsec: i64::try_from(micros % MICROS * 1000).unwrap_or(0),
        };
        let once = Itimerspec { it_interval: Timespec { tv_sec: 0, tv_nsec: 0 }, it_value: at };
        timerfd_settime(self.timer.get_ref(), TimerfdTimerFlags::ABSTIME, &once)?;
        Ok(())
    }

    /// Waits until it rings. Cancel safe.
    pub(crate) async fn ring(&mut self) -> io::Result<()> {
        loop {
            let mut ready = self.timer.readable().await?;
            let mut count = [0; 8];
            match ready.try_io(|timer| Ok(rustix::io::read(timer.get_ref(), &mut count)?)) {
                Ok(read) => {
                    read?;
                    self.set_to = Time::NEVER;
                    return Ok(());
                }
                Err(_would_block) => {}
            }
        }
    }
}

const MICROS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_clock_is_the_machines_and_does_not_go_back() {
        let (first, second) = (now(), now());
        assert!(second >= first);
        let text = std::fs::read_to_string("/proc/uptime").expect("Linux tells its uptime");
        let uptime: f64 = text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(0.0);
        // A container may have its own idea of uptime, but never a later one than the clock.
        assert!(uptime * 1e6 <= now().as_micros() as f64 + 2e4, "{uptime}");
    }

    #[tokio::test]
    async fn it_rings_when_it_is_due_and_not_before() {
        let mut alarm = Alarm::new().unwrap();
        let due = now() + Duration::from_millis(5);
        alarm.set(due).unwrap();
        alarm.ring().await.unwrap();
        assert!(now() >= due);
    }

    #[tokio::test]
    async fn what_is_past_rings_at_once_and_the_earliest_counts() {
        let mut alarm = Alarm::new().unwrap();
        alarm.set(now() + Duration::from_secs(3600)).unwrap();
        alarm.set(Time::ZERO).unwrap();
        alarm.ring().await.unwrap();
    }
}
