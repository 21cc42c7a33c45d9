internal import Catalog

/// A timer for heartbeats after the last output.
struct HeartbeatTimer {
    private var last = ContinuousClock.now
    private let silence: Duration

    init(_ silence: Duration) { self.silence = silence }

    mutating func restart() { last = .now }

    /// Whether a heartbeat is due; reading it restarts the timer.
    var isDue: Bool {
        mutating get {
            guard ContinuousClock.now - last >= silence else { return false }
            restart()
            return true
        }
    }
}
