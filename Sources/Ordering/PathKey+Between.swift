extension PathKey {
    /// Returns a key between two others; nil means no limit on that side.
    ///
    /// - Throws: `PathKeyError.notAscending` if `a` is not before `b`, `outOfRange` if the key
    ///   would be beyond the first or the last possible one.
    /// - Complexity: O(length). After m keys in one gap, a key has at most 1 + ⌈m ÷ 5⌉ bytes more than the longer neighbour.
    public static func between(_ a: PathKey?, _ b: PathKey?) throws(PathKeyError) -> PathKey {
        guard let a else {
            guard let b else { return PathKey([0]) }
            // A deeper key has room before it at its first part.
            return try checked([b.parts.count > 1 ? b.parts[0] : b.parts[0] - step])
        }
        guard let b else { return try checked([a.parts[0] + step]) }
        guard a < b else { throw .notAscending }
        let level = commonLevels(a, b)
        let goesDeeper = b.parts.count > level + 1
        if level == a.parts.count {
            return try checked(a.parts + [goesDeeper ? b.parts[level] : b.parts[level] - step])
        }
        let (low, high) = (a.parts[level], b.parts[level])
        let shared = Array(a.parts[..<level])
        if high - low >= 2 { return try checked(shared + [low + (high - low) / 2]) }
        if goesDeeper { return try checked(shared + [high]) }
        if a.parts.count > level + 1 { return try checked(a.parts[...level] + [a.parts[level + 1] + step]) }
        return try checked(a.parts + [0])
    }

    /// Returns `count` keys between two others, in order, evenly spaced if the gap allows, otherwise a step apart on a new level.
    ///
    /// - Throws: as for a single key.
    /// - Complexity: O(count × length).
    public static func between(_ a: PathKey?, _ b: PathKey?, count: Int) throws(PathKeyError) -> [PathKey] {
        guard count != 1 else { return [try between(a, b)] }
        guard count > 0 else { return [] }
        guard let a else {
            guard let b else { return appending(count, after: nil) }
            return try row([], from: b.parts[0] - step * Int64(count), count)
        }
        guard let b else { return try row([], from: a.parts[0] + step, count) }
        guard a < b else { throw .notAscending }
        let level = commonLevels(a, b)
        if level == a.parts.count { return try row(a.parts, from: b.parts[level] - step * Int64(count), count) }
        let (low, high) = (a.parts[level], b.parts[level])
        if high - low > Int64(count) {
            let shared = Array(a.parts[..<level])
            let (gap, parts) = (Int128(high - low), Int128(count + 1))
            return try (1...count).map { number throws(PathKeyError) in
                try checked(shared + [low + Int64(gap * Int128(number) / parts)])
            }
        }
        if a.parts.count > level + 1 {
            return try row(Array(a.parts[...level]), from: a.parts[level + 1] + step, count)
        }
        return try row(a.parts, from: 0, count)
    }

    /// Returns keys on one level, a step apart.
    private static func row(_ parent: [Int64], from first: Int64, _ count: Int) throws(PathKeyError) -> [PathKey] {
        try (0..<Int64(count)).map { number throws(PathKeyError) in try checked(parent + [first + number * step]) }
    }

    /// Returns the number of leading levels that two paths have in common.
    private static func commonLevels(_ a: PathKey, _ b: PathKey) -> Int {
        zip(a.parts, b.parts).prefix { $0 == $1 }.count
    }

    private static func checked(_ parts: [Int64]) throws(PathKeyError) -> PathKey {
        guard let last = parts.last, range.contains(last) else { throw .outOfRange }
        return PathKey(parts)
    }

    /// The number of bytes of the key.
    public var length: Int { bytes.count }
}
