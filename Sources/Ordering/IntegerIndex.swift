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

/// Positions of any hashable elements, by Swift's seeded hash.
struct HashedIndex<Element: Hashable>: ElementIndex, ~Copyable {
    private var table: PlaceTable<Element>

    init(_ elements: ArraySlice<Element>) {
        table = PlaceTable(elements) { UInt64(bitPattern: Int64($0.hashValue)) }
    }

    mutating func take(_ element: Element) -> Int32 {
        table.take(element, hash: UInt64(bitPattern: Int64(element.hashValue)))
    }
}

/// An index of the positions of elements in a list; each position is returned only once.
protocol ElementIndex<Element>: ~Copyable {
    associatedtype Element
    /// Takes the first remaining position of an element; −1 if there is none.
    mutating func take(_ element: Element) -> Int32
}
