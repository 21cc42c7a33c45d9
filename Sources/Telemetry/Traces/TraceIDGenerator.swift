package import Platform
internal import Synchronization

/// Generates ids of traces and spans: a counter, scrambled with random seeds. A system call for each id would take longer.
package final class TraceIDGenerator: Sendable {
    private let counter: Atomic<UInt64>
    private let seeds: (high: UInt64, low: UInt64, span: UInt64)

    package init(using random: inout some RandomNumberGenerator) {
        seeds = (random.next(), random.next(), random.next())
        counter = Atomic(random.next())
    }

    package convenience init() {
        var random = SystemRandomNumberGenerator()
        self.init(using: &random)
    }

    package func trace() -> TraceID {
        let number = next()
        let high = Self.scramble(number ^ seeds.high)
        return TraceID(high: high, low: Self.scramble(number &+ seeds.low)) ?? TraceID(high: 1, low: high | 1)!
    }

    package func span() -> SpanID { SpanID(Self.scramble(next() ^ seeds.span)) ?? SpanID(1)! }

    /// Returns the id of a child that is made together with its siblings.
    static func child(_ index: Int, of parent: SpanID) -> SpanID {
        SpanID(scramble(parent.value &+ step &* UInt64(index + 1))) ?? SpanID(1)!
    }

    private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators (SplitMix64).
    private func next() -> UInt64 { counter.wrappingAdd(Self.step, ordering: .relaxed).oldValue }

    private static func scramble(_ number: UInt64) -> UInt64 {
        var number = number
        number = (number ^ (number >> 30)) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ (number >> 27)) &* 0x94D0_49BB_1331_11EB
        return number ^ (number >> 31)
    }
}
