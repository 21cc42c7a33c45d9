/// The pauses between attempts to connect: 100 milliseconds after a failure, and twice as long after each further one in a row. Each is shortened
/// at random by up to a half, so that clients do not try at the same time.
struct RetryPauses {
    /// The number of failures since the last success.
    private(set) var failures = 0
    /// How often the pause doubles.
    private let doublings: Int

    init(doublings: Int) { self.doublings = doublings }

    mutating func succeed() { failures = 0 }

    /// Counts a failure; returns the pause after it.
    ///
    /// - Parameter jitter: the part of the pause that is left.
    mutating func fail(jitter: Double = .random(in: 0.5...1)) -> Duration {
        failures += 1
        return .milliseconds(100 * (1 << min(failures - 1, doublings))) * jitter
    }
}
