internal import Synchronization

/// The requests of the last minute, for the status of a server.
final class RecentRequests: Sendable {
    struct Summary: Sendable, Hashable {
        var count = 0
        /// Responses with a status of 500 or above.
        var errors = 0
        var rateLimited = 0
        /// The median and the 99th percentile of durations: at most a tenth too long; nil without requests.
        var median: Duration?
        var percentile99: Duration?
    }

    /// The requests of one second.
    private struct Slot {
        var second: Int64 = -1
        var count = 0
        var errors = 0
        var rateLimited = 0
        var buckets: [UInt32] = []
    }

    /// The seconds that are summarized.
    private static let window: Int64 = 60
    /// The bounds of the durations' buckets in microseconds, each a tenth above the previous one.
    private static let bounds: [Double] = {
        var bounds = [50.0]
        while bounds.last! < 120_000_000 { bounds.append(bounds.last! * 1.1) }
        return bounds
    }()

    private let start = ContinuousClock.now
    private let slots = Mutex(Array(repeating: Slot(), count: Int(window)))

    private func second(_ now: ContinuousClock.Instant) -> Int64 { (now - start).components.seconds }

    func add(status: Int, _ duration: Duration, now: ContinuousClock.Instant = .now) {
        let second = second(now)
        let bucket = Self.bucket(duration / .microseconds(1))
        slots.withLock { slots in
            let index = Int(second % Self.window)
            if slots[index].second != second {
                slots[index] = Slot(second: second, buckets: Array(repeating: 0, count: Self.bounds.count))
            }
            slots[index].count += 1
            if status >= 500 { slots[index].errors += 1 }
            if status == 429 { slots[index].rateLimited += 1 }
            slots[index].buckets[bucket] += 1
        }
    }

    func summary(now: ContinuousClock.Instant = .now) -> Summary {
        let first = second(now) - Self.window + 1
        var summary = Summary()
        var buckets = Array(repeating: 0, count: Self.bounds.count)
        slots.withLock { slots in
            for slot in slots where slot.second >= first {
                summary.count += slot.count
                summary.errors += slot.errors
                summary.rateLimited += slot.rateLimited
                for (index, count) in slot.buckets.enumerated() { buckets[index] += Int(count) }
            }
        }
        guard summary.count > 0 else { return summary }
        summary.median = Self.quantile(0.5, buckets, summary.count)
        summary.percentile99 = Self.quantile(0.99, buckets, summary.count)
        return summary
    }

    private static func bucket(_ microseconds: Double) -> Int {
        var (low, high) = (0, bounds.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < microseconds { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private static func quantile(_ share: Double, _ buckets: [Int], _ count: Int) -> Duration {
        var rest = Int((Double(count) * share).rounded(.up))
        for (index, size) in buckets.enumerated() {
            rest -= size
            if rest <= 0 { return .microseconds(Int64(bounds[index])) }
        }
        return .microseconds(Int64(bounds.last!))
    }
}
