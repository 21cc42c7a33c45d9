/// Positions of numbers, by multiplicative hashing with a random factor, so that collisions cannot be provoked.
///
/// Source: M. Dietzfelbinger et al., "A reliable randomized algorithm for the closest-pair problem", 1997, section 2.
struct IntegerIndex: ElementIndex, ~Copyable {
    private static let factor = UInt64.random(in: .min ... .max) | 1
    private var table: PlaceTable<Int>

    init(_ numbers: ArraySlice<Int>) {
        let factor = Self.factor
        table = PlaceTable(numbers) { UInt64(bitPattern: Int64($0)) &* factor }
    }

    mutating func take(_ number: Int) -> Int32 {
        table.take(number, hash: UInt64(bitPattern: Int64(number)) &* Self.factor)
    }
}
