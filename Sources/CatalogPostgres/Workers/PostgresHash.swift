/// The hash functions of PostgreSQL for the types of distribution columns: `hashint4` and `hashtext`.
///
/// The functions are those of Bob Jenkins (lookup3), as in `src/common/hashfn.c` of PostgreSQL. PostgreSQL cannot change them, because
/// hash indexes and hash partitions depend on them.
enum PostgresHash {
    /// Returns `hashint4` of a number.
    static func of(_ number: Int32) -> Int32 {
        var state = State(length: 4)
        state.a &+= UInt32(bitPattern: number)
        return state.finish()
    }

    /// Returns `hashtext` of a text in UTF-8 with a deterministic collation.
    ///
    /// - Complexity: O(*n*).
    static func of(_ bytes: [UInt8]) -> Int32 {
        var state = State(length: bytes.count)
        var rest = bytes[...]
        while rest.count >= 12 {
            state.add(word(rest), word(rest.dropFirst(4)), word(rest.dropFirst(8)))
            state.mix()
            rest = rest.dropFirst(12)
        }
        // The lowest byte of the last word would be that of the length.
        state.add(word(rest), word(rest.dropFirst(4)), word(rest.dropFirst(8)) << 8)
        return state.finish()
    }

    /// Returns the first four bytes as a number, the lowest byte first; those that are missing are 0.
    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        zip(bytes, [0, 8, 16, 24]).reduce(0) { $0 | UInt32($1.0) << $1.1 }
    }

    private struct State {
        var a, b, c: UInt32

        init(length: Int) {
            a = 0x9e37_79b9 &+ UInt32(truncatingIfNeeded: length) &+ 3_923_095
            (b, c) = (a, a)
        }

        mutating func add(_ first: UInt32, _ second: UInt32, _ third: UInt32) {
            a &+= first
            b &+= second
            c &+= third
        }

        mutating func mix() {
            Self.step(&a, &c, b, 4)
            Self.step(&b, &a, c, 6)
            Self.step(&c, &b, a, 8)
            Self.step(&a, &c, b, 16)
            Self.step(&b, &a, c, 19)
            Self.step(&c, &b, a, 4)
        }

        /// Subtracts `y` from `x`, mixes its bits in, and adds `z` to `y`.
        private static func step(_ x: inout UInt32, _ y: inout UInt32, _ z: UInt32, _ count: UInt32) {
            x &-= y
            x ^= rotated(y, count)
            y &+= z
        }

        mutating func finish() -> Int32 {
            Self.end(&c, b, 14)
            Self.end(&a, c, 11)
            Self.end(&b, a, 25)
            Self.end(&c, b, 16)
            Self.end(&a, c, 4)
            Self.end(&b, a, 14)
            Self.end(&c, b, 24)
            return Int32(bitPattern: c)
        }

        private static func end(_ x: inout UInt32, _ y: UInt32, _ count: UInt32) {
            x ^= y
            x &-= rotated(y, count)
        }

        private static func rotated(_ x: UInt32, _ count: UInt32) -> UInt32 { x << count | x >> (32 - count) }
    }
}
