internal import Catalog

/// A timer for heartbeats after the last output.
struct Pulse {
    private var last = ContinuousClock.now
    private let silence: Duration

    init(_ silence: Duration) { self.silence = silence }

    mutating func beat() { last = .now }

    /// Whether a heartbeat is due; reading it restarts the timer.
    var isDue: Bool {
        mutating get {
            guard ContinuousClock.now - last >= silence else { return false }
            beat()
            return true
        }
    }
}
