/// A stable radix sort of row numbers by 64-bit keys.
///
/// - Complexity: O(*n*) for each byte in which keys differ.
enum RowOrder {
    /// Sorts rows by their keys; rows with equal keys keep their order.
    ///
    /// - Parameter keys: the key of each row number.
    static func sort(_ rows: inout [UInt32], by keys: [UInt64]) {
        guard rows.count > 1 else { return }
        var (all, any) = (UInt64.max, UInt64.zero)
        for row in rows {
            all &= keys[Int(row)]
            any |= keys[Int(row)]
        }
        let differing = all ^ any
        guard differing != 0 else { return }
        var other = rows
        keys.withUnsafeBufferPointer { keys in
            for shift in stride(from: UInt64(0), to: 64, by: 8) where differing >> shift & 0xFF != 0 {
                rows.withUnsafeBufferPointer { source in
                    other.withUnsafeMutableBufferPointer { target in
                        distribute(source, into: target, keys, shift)
                    }
                }
                swap(&rows, &other)
            }
        }
    }

    /// Moves the rows to their places by one byte of their keys.
    private static func distribute(
        _ source: UnsafeBufferPointer<UInt32>,
        into target: UnsafeMutableBufferPointer<UInt32>,
        _ keys: UnsafeBufferPointer<UInt64>,
        _ shift: UInt64
    ) {
        withUnsafeTemporaryAllocation(of: Int.self, capacity: 256) { places in
            places.initialize(repeating: 0)
            for row in source { places[Int(keys[Int(row)] >> shift & 0xFF)] += 1 }
            var next = 0
            for byte in 0..<256 {
                let count = places[byte]
                places[byte] = next
                next += count
            }
            for row in source {
                let byte = Int(keys[Int(row)] >> shift & 0xFF)
                target[places[byte]] = row
                places[byte] += 1
            }
        }
    }

    /// Sorts the rows within each run of equal keys by an exact comparison; rows that it calls equal keep their order.
    ///
    /// - Parameter precedes: whether one row comes before another one.
    static func sortRuns(_ rows: inout [UInt32], of keys: [UInt64], _ precedes: (Int, Int) -> Bool) {
        var start = 0
        while start < rows.count {
            var end = start + 1
            var needsSorting = false
            while end < rows.count, keys[Int(rows[end])] == keys[Int(rows[start])] {
                needsSorting = needsSorting || precedes(Int(rows[end]), Int(rows[end - 1]))
                end += 1
            }
            if needsSorting {
                let sorted = rows[start..<end].enumerated().sorted { a, b in
                    let (x, y) = (Int(a.element), Int(b.element))
                    return precedes(x, y) || (a.offset < b.offset && !precedes(y, x))
                }
                rows.replaceSubrange(start..<end, with: sorted.map(\.element))
            }
            start = end
        }
    }
}
