internal import CLibPQ
internal import Glibc
internal import Synchronization

/// A descriptor that any thread can make readable, to wake the polling thread.
final class Wakeup: Sendable {
    let descriptor: Int32

    init() throws(PostgresError) {
        descriptor = eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC))
        guard descriptor >= 0 else { throw PostgresError(.connection, "eventfd: \(String(cString: strerror(errno)))") }
    }

    deinit { close(descriptor) }

    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    func drain() {
        var value: UInt64 = 0
        _ = read(descriptor, &value, 8)
    }
}

/// Waits until a descriptor is ready or the deadline passes; nil waits forever. Signals do not end the wait.
func pollDescriptors(_ wanted: [(descriptor: Int32, events: Int16)], until deadline: ContinuousClock.Instant?)
    -> PollOutcome
{
    var descriptors = wanted.map { pollfd(fd: $0.descriptor, events: $0.events, revents: 0) }
    while true {
        let timeout = deadline.map {
            Int32(clamping: max(0, min(ContinuousClock.now.duration(to: $0).milliseconds, 1 << 30)))
        }
        let ready = poll(&descriptors, nfds_t(descriptors.count), timeout ?? -1)
        if ready < 0 {
            if errno == EINTR { continue }
            // For example, out of memory: report all descriptors as ready after a moment, so that each one is checked.
            usleep(1_000)
            return PollOutcome(timedOut: false, events: wanted.map { $0.events })
        }
        return PollOutcome(timedOut: ready == 0, events: descriptors.map(\.revents))
    }
}
