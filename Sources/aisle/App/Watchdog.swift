internal import AsyncAlgorithms
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle

/// Shows systemd that the server still works; without that, systemd ends and restarts it.
///
/// A server works if all of its event loops run jobs and a probe succeeds. The database is not part of it: a restart would not
/// repair that.
struct Watchdog: Service {
    let notifier: SystemdNotifier
    /// The interval at which systemd expects signs of life.
    let interval: Duration
    /// Returns whether the server answers requests.
    let probe: @Sendable () async -> Bool
    let logger: Logger

    func run() async throws {
        // A tick may be late, and a single probe may fail.
        for await _ in AsyncTimerSequence(interval: interval / 4, clock: .continuous).cancelOnGracefulShutdown() {
            // The next tick comes only after this one was answered, so a server that hangs sends nothing.
            for loop in MultiThreadedEventLoopGroup.singleton.makeIterator() { try await loop.submit {}.get() }
            if await probe() { notifier.send(.alive) } else { logger.error("the server does not answer its own probe") }
        }
    }
}
