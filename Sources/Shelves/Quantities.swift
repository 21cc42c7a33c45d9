internal import Catalog

/// The distinct sizes of a shelf's products, half as large in memory as an array of them.
struct Quantities: Sendable {
    private(set) var digits: [UInt128] = []
    private(set) var dimensions: [Dimension] = []

    init() {}

    init(_ quantities: some Collection<BaseQuantity>) {
        digits = quantities.map(\.digits)
        dimensions = quantities.map(\.dimension)
    }

    /// The size in memory, in bytes.
    var size: Int { MemoryLayout<UInt128>.stride * digits.capacity + dimensions.capacity }
}

extension Quantities: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { digits.count }

    subscript(number: Int) -> BaseQuantity {
        BaseQuantity(dimension: dimensions[number], digits: digits[number])!
    }
}
