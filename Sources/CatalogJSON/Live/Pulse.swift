internal import Catalog

/// When something was written last.
struct Pulse {
    private var last = ContinuousClock.now
    private let silence: Duration

    init(_ silence: Duration) { self.silence = silence }

    mutating func beat() { last = .now }

    /// Whether it is time for a sign of life, which is then taken to be written.
    var isDue: Bool {
        mutating get {
            guard ContinuousClock.now - last >= silence else { return false }
            beat()
            return true
        }
    }
}
