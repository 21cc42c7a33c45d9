/// Numbers, of which each takes as few bytes as the largest difference of two of them needs.
struct NarrowNumbers: Sendable {
    /// The number of a missing value.
    static let missing = Int64.min

    /// The differences from the smallest number. The largest value of the type marks a missing value.
    private enum Differences: Sendable {
        case bytes([UInt8])
        case twoBytes([UInt16])
        case fourBytes([UInt32])
        case eightBytes([UInt64])
    }

    private let minimum: Int64
    private let differences: Differences

    init(_ numbers: [Int64]) {
        var (minimum, maximum) = (Int64.max, Int64.min)
        for number in numbers where number != Self.missing {
            minimum = Swift.min(minimum, number)
            maximum = Swift.max(maximum, number)
        }
        if minimum > maximum { (minimum, maximum) = (0, 0) }
        self.minimum = minimum
        func narrow<Value: FixedWidthInteger & UnsignedInteger>(_: Value.Type) -> [Value] {
            numbers.map { $0 == Self.missing ? .max : Value(truncatingIfNeeded: $0 &- minimum) }
        }
        // The difference of two numbers may not fit a signed one.
        let range = UInt64(bitPattern: maximum &- minimum)
        if range < UInt8.max {
            differences = .bytes(narrow(UInt8.self))
        } else if range < UInt16.max {
            differences = .twoBytes(narrow(UInt16.self))
        } else if range < UInt32.max {
            differences = .fourBytes(narrow(UInt32.self))
        } else {
            differences = .eightBytes(narrow(UInt64.self))
        }
    }

    /// The size in memory, in bytes.
    var size: Int {
        switch differences {
        case .bytes(let values): values.capacity
        case .twoBytes(let values): 2 * values.capacity
        case .fourBytes(let values): 4 * values.capacity
        case .eightBytes(let values): 8 * values.capacity
        }
    }
}

extension NarrowNumbers: RandomAccessCollection {
    var startIndex: Int { 0 }
    var endIndex: Int {
        switch differences {
        case .bytes(let values): values.count
        case .twoBytes(let values): values.count
        case .fourBytes(let values): values.count
        case .eightBytes(let values): values.count
        }
    }

    subscript(index: Int) -> Int64 {
        func number<Value: FixedWidthInteger & UnsignedInteger>(_ values: [Value]) -> Int64 {
            values[index] == .max ? Self.missing : minimum &+ Int64(truncatingIfNeeded: values[index])
        }
        return switch differences {
        case .bytes(let values): number(values)
        case .twoBytes(let values): number(values)
        case .fourBytes(let values): number(values)
        case .eightBytes(let values): number(values)
        }
    }
}
