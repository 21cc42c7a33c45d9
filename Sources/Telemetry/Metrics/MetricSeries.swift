internal import CoreMetrics
internal import Synchronization

/// A value of a metric for one combination of labels.
protocol MetricSeries: AnyObject, Sendable {
    /// Writes the current value.
    func write(_ name: String, _ labels: LabelSet, to text: inout MetricText)
}

/// A number that only grows.
final class CounterSeries: MetricSeries, CounterHandler, FloatingPointCounterHandler {
    private let value = Mutex<Double>(0)

    func increment(by amount: Int64) { value.withLock { $0 += Double(max(0, amount)) } }
    func increment(by amount: Double) { value.withLock { $0 += max(0, amount) } }
    func reset() { value.withLock { $0 = 0 } }

    func write(_ name: String, _ labels: LabelSet, to text: inout MetricText) {
        text.sample(name, labels, value.withLock { $0 })
    }
}

/// A number that grows and shrinks.
final class GaugeSeries: MetricSeries, MeterHandler, RecorderHandler {
    private let value = Mutex<Double>(0)

    func set(_ value: Int64) { set(Double(value)) }
    func set(_ value: Double) { self.value.withLock { $0 = value } }
    func increment(by amount: Double) { value.withLock { $0 += amount } }
    func decrement(by amount: Double) { value.withLock { $0 -= amount } }
    func record(_ value: Int64) { set(Double(value)) }
    func record(_ value: Double) { set(value) }

    func write(_ name: String, _ labels: LabelSet, to text: inout MetricText) {
        text.sample(name, labels, value.withLock { $0 })
    }
}

/// The distribution of measured values.
///
/// - Complexity: recording a value is O(log buckets).
final class HistogramSeries: MetricSeries, TimerHandler, RecorderHandler {
    private struct State {
        /// The number of values in each bucket alone; the last one has no upper bound.
        var counts: [UInt64]
        var sum = 0.0
    }

    private let bounds: [Double]
    private let state: Mutex<State>

    init(bounds: [Double]) {
        self.bounds = bounds
        state = Mutex(State(counts: Array(repeating: 0, count: bounds.count + 1)))
    }

    func recordNanoseconds(_ duration: Int64) { record(Double(duration) / 1e9) }
    func record(_ value: Int64) { record(Double(value)) }

    func record(_ value: Double) {
        guard !value.isNaN else { return }
        let bucket = bucket(of: value)
        state.withLock { state in
            state.counts[bucket] += 1
            state.sum += value
        }
    }

    /// Returns the first bucket whose upper bound is at least the value.
    private func bucket(of value: Double) -> Int {
        var (low, high) = (0, bounds.count)
        while low < high {
            let middle = (low + high) / 2
            if bounds[middle] < value { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func write(_ name: String, _ labels: LabelSet, to text: inout MetricText) {
        let (counts, sum) = state.withLock { ($0.counts, $0.sum) }
        var total: UInt64 = 0
        for (index, count) in counts.enumerated() {
            total += count
            let bound = index < bounds.count ? MetricText.number(bounds[index], asBound: true) : "+Inf"
            text.sample(name + "_bucket", labels.adding("le", bound), Double(total))
        }
        text.sample(name + "_sum", labels, sum)
        text.sample(name + "_count", labels, Double(total))
    }
}
