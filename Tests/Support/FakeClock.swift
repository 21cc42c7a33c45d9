internal import Synchronization

/// A stopped clock that a test advances.
package final class FakeClock: Sendable {
    private let time = Mutex(ContinuousClock.now)

    package init() {}

    package var now: ContinuousClock.Instant { time.withLock { $0 } }

    package func advance(_ duration: Duration) { time.withLock { $0 += duration } }
}
