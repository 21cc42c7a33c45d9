internal import AsyncAlgorithms
internal import FoundationEssentials
internal import Glibc
internal import Logging
internal import NIOCore
internal import NIOPosix
internal import ServiceLifecycle

/// Notifies systemd of the state of a server (`sd_notify(3)`).
struct SystemdNotifier: Sendable {
    /// A state, as systemd reads it.
    enum State: Equatable {
        /// The server listens; the text says where.
        case ready(status: String)
        /// The server is stopping, which takes at most this long.
        case stopping(limit: Duration)
        /// The server still works.
        case alive

        var text: String {
            switch self {
            case .ready(let status): "READY=1\nSTATUS=\(status)"
            case .stopping(let limit):
                "STOPPING=1\nSTATUS=Stopping\nEXTEND_TIMEOUT_USEC=\(limit.components.seconds * 1_000_000)"
            case .alive: "WATCHDOG=1"
            }
        }
    }

    /// The socket of systemd; one that begins with `@` is abstract.
    let socket: String
    /// The interval at which systemd expects signs of life; nil if it does not watch this process.
    let watchdog: Duration?

    /// Returns the notifier that the environment of a process describes; nil if systemd expects no notifications.
    init?(environment: [String: String], process: Int32) {
        guard let socket = environment["NOTIFY_SOCKET"], let first = socket.first, first == "/" || first == "@",
            socket.utf8.count < Self.addressLimit
        else { return nil }
        self.socket = socket
        let isWatched = environment["WATCHDOG_PID"].map { $0 == "\(process)" } ?? true
        let interval = environment["WATCHDOG_USEC"].flatMap { Int64($0) } ?? 0
        watchdog = isWatched && interval > 0 ? .microseconds(interval) : nil
    }

    /// Takes the notifier of this process, and hides it from the children.
    static func take() -> SystemdNotifier? {
        let notifier = SystemdNotifier(environment: ProcessInfo.processInfo.environment, process: getpid())
        for variable in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsetenv(variable) }
        return notifier
    }

    /// Sends a state without waiting; returns false if systemd did not take it, for example because its queue is full.
    @discardableResult
    func send(_ state: State) -> Bool { delivery(of: state) == .delivered }

    /// Sends a state, and tries again while the queue of systemd is full, until the limit or until the task is cancelled.
    func send(_ state: State, within limit: Duration) async {
        let deadline = ContinuousClock.now + limit
        while delivery(of: state) == .queueIsFull, ContinuousClock.now < deadline {
            do { try await Task.sleep(for: .milliseconds(10)) } catch { return }
        }
    }

    private enum Delivery { case delivered, queueIsFull, failed }

    /// Tries to send a state once. A full queue must not block a thread: the shutdown runs on the same threads.
    private func delivery(of state: State) -> Delivery {
        let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return .failed }
        defer { close(descriptor) }
        var (address, size) = Self.address(of: socket)
        let text = Array(state.text.utf8)
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        let sent = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, text, text.count, flags, $0, size)
            }
        }
        if sent == text.count { return .delivered }
        return errno == EAGAIN ? .queueIsFull : .failed
    }

    /// The size of `sun_path`.
    private static let addressLimit = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    private static func address(of socket: String) -> (sockaddr_un, socklen_t) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var path = Array(socket.utf8)
        // The name of an abstract socket begins with a zero byte and is not terminated.
        if path[0] == UInt8(ascii: "@") { path[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let isAbstract = path[0] == 0
        let size = MemoryLayout.offset(of: \sockaddr_un.sun_path)! + path.count + (isAbstract ? 0 : 1)
        return (address, socklen_t(size))
    }
}

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
