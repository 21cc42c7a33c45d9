import Catalog

@testable import Shelves

/// Returns the bytes of all arrays in a value, found by reflection, with 48 bytes for each array's header and the allocator.
func sizeOfArrays(in value: Any) -> Int {
    switch value {
    case let array as [UInt8]: 48 + array.capacity
    case let array as [Bool]: 48 + array.capacity
    case let array as [UInt32]: 48 + 4 * array.capacity
    case let array as [Int64]: 48 + 8 * array.capacity
    case let array as [Int]: 48 + 8 * array.capacity
    case let array as [SearchRelevance]: 48 + 2 * array.capacity
    case let array as [Double]: 48 + 8 * array.capacity
    case let array as [UInt128]: 48 + 16 * array.capacity
    case let array as [Dimension]: 48 + array.capacity
    case let quantities as Quantities: sizeOfArrays(in: (quantities.digits, quantities.dimensions))
    case let lists as NumberLists: sizeOfArrays(in: (lists.numbers, lists.ends))
    // Rules of languages are constants.
    case is Inflection: 0
    default: Mirror(reflecting: value).children.reduce(0) { $0 + sizeOfArrays(in: $1.value) }
    }
}
