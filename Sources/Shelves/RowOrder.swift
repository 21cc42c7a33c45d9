/// A stable radix sort of row numbers by 64-bit keys, or by texts.
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

    /// The number of rows up to which comparing them costs less than distributing them.
    private static let fewRows = 48
    /// The number of bytes from which on texts are compared.
    private static let distributedBytes = 64

    /// Sorts rows by the bytes of their texts, eight bytes at a time; rows that are equal in everything keep their order.
    ///
    /// - Parameter compareEqual: compares two rows with equal texts: negative, zero or positive.
    /// - Complexity: O(*n*) for each eight bytes that many texts have in common. O(*k* log *k*) for *k* rows with the same first 64 bytes.
    static func sort(_ rows: inout [UInt32], by texts: TextColumn, _ compareEqual: (Int, Int) -> Int = { _, _ in 0 }) {
        var keys = [UInt64](repeating: 0, count: texts.count)
        /// Sorts rows whose texts have the same bytes before an offset.
        func sort(_ range: Range<Int>, from offset: Int) {
            var part = Array(rows[range])
            guard range.count > fewRows, offset < distributedBytes else {
                part = part.enumerated().sorted { a, b in
                    let (x, y) = (Int(a.element), Int(b.element))
                    var order = TextColumn.compare(texts, x, texts, y)
                    if order == 0 { order = compareEqual(x, y) }
                    return order != 0 ? order < 0 : a.offset < b.offset
                }.map(\.element)
                rows.replaceSubrange(range, with: part)
                return
            }
            for row in part { keys[Int(row)] = texts.number(Int(row), at: offset) }
            Self.sort(&part, by: keys)
            rows.replaceSubrange(range, with: part)
            // Deeper levels write other keys.
            let sorted = part.map { keys[Int($0)] }
            var start = 0
            while start < sorted.count {
                var end = start + 1
                while end < sorted.count, sorted[end] == sorted[start] { end += 1 }
                if end - start > 1 { sort(range.lowerBound + start..<range.lowerBound + end, from: offset + 8) }
                start = end
            }
        }
        if rows.count > 1 { sort(rows.indices, from: 0) }
    }

    /// Sorts rows by approximate keys, and rows with close keys by an exact comparison. Rows that compare equal keep their order.
    ///
    /// - Parameters:
    ///   - difference: the largest difference of the keys of two rows that may be in another order than their keys.
    ///   - precedes: whether one row comes before another one.
    /// - Complexity: O(*n*) for each byte in which keys differ, and O(*k* log *k*) for *k* rows with close keys.
    static func sort(
        _ rows: inout [UInt32],
        by keys: [UInt64],
        within difference: UInt64,
        _ precedes: (Int, Int) -> Bool
    ) {
        let before = rows
        /// The place of each row before; empty until it is needed.
        var places: [UInt32] = []
        sort(&rows, by: keys)
        var start = 0
        while start < rows.count {
            var end = start + 1
            var needsSorting = false
            while end < rows.count {
                let (last, next) = (Int(rows[end - 1]), Int(rows[end]))
                guard keys[next] - keys[last] <= difference else { break }
                // Rows that are equal may have different keys.
                needsSorting = needsSorting || keys[next] != keys[last] || precedes(next, last)
                end += 1
            }
            if needsSorting {
                if places.isEmpty {
                    places = Array(repeating: 0, count: keys.count)
                    for (place, row) in before.enumerated() { places[Int(row)] = UInt32(place) }
                }
                rows[start..<end].sort { a, b in
                    let (x, y) = (Int(a), Int(b))
                    return precedes(x, y) || (places[x] < places[y] && !precedes(y, x))
                }
            }
            start = end
        }
    }
}
