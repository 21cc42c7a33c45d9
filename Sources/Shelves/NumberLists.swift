/// Lists of numbers, such as the tags of products, in one array.
struct NumberLists: Sendable {
    private(set) var numbers: [UInt32] = []
    /// The end of each list in the array.
    private(set) var ends: [UInt32] = []

    init() {}

    /// Creates lists from their parts; nil if the ends do not divide the array.
    init?(numbers: [UInt32], ends: [UInt32]) {
        guard ends.isDivision(of: numbers.count) else { return nil }
        (self.numbers, self.ends) = (numbers, ends)
    }

    init(_ lists: some Sequence<some Sequence<UInt32>>) {
        for list in lists { append(list) }
    }

    mutating func append(_ list: some Sequence<UInt32>) {
        numbers.append(contentsOf: list)
        ends.append(UInt32(numbers.count))
    }

    /// The size in memory, in bytes.
    var size: Int { 4 * (numbers.capacity + ends.capacity) }
}

extension NumberLists: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int { ends.count }

    subscript(list: Int) -> ArraySlice<UInt32> {
        numbers[ends.part(list)]
    }
}

/// The ends of the parts of an array.
extension [UInt32] {
    /// The range of a part.
    func part(_ index: Int) -> Range<Int> { (index == 0 ? 0 : Int(self[index - 1]))..<Int(self[index]) }

    /// Whether the ends do not decrease, and the last end is the number of elements of the array.
    func isDivision(of count: Int) -> Bool {
        var last: UInt32 = 0
        for end in self {
            guard end >= last else { return false }
            last = end
        }
        return Int(last) == count
    }
}
