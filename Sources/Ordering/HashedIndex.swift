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
