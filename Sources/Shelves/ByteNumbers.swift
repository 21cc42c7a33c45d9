/// Numbers distinct byte strings in the order in which they come.
struct ByteNumbers: Sendable {
    private var values = TextColumn()
    /// The number of a value and 1 at a place that its hash determines, or 0.
    private var places = [UInt32](repeating: 0, count: 64)

    var count: Int { values.count }
    /// The size in memory, in bytes.
    var size: Int { values.size + 4 * places.capacity }

    /// Returns the text of a number.
    func text(_ number: Int) -> String { values.text(number) }

    /// Runs a body with the bytes of a number.
    func withBytes<Result>(_ number: Int, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        values.withBytes(number, body)
    }

    /// Returns the number of a value; nil if it has none.
    func known(_ bytes: [UInt8]) -> UInt32? { bytes.withUnsafeBytes { known($0) } }

    /// Returns the number of a value; nil if it has none.
    func known(_ bytes: UnsafeRawBufferPointer) -> UInt32? {
        let place = place(of: bytes)
        return places[place] == 0 ? nil : places[place] - 1
    }

    /// Returns the place of a value, or the empty one that it would get.
    private func place(of bytes: UnsafeRawBufferPointer) -> Int {
        var place = Int(truncatingIfNeeded: Self.hash(bytes)) & (places.count - 1)
        while places[place] != 0, !values.isEqual(Int(places[place] - 1), bytes) {
            place = (place + 1) & (places.count - 1)
        }
        return place
    }

    /// Returns the number of a value, and whether it is new.
    ///
    /// - Complexity: O(*k*) for *k* bytes, amortized.
    mutating func number(of bytes: UnsafeRawBufferPointer) -> (number: UInt32, isNew: Bool) {
        if 2 * (count + 1) > places.count { grow() }
        let place = place(of: bytes)
        if places[place] != 0 { return (places[place] - 1, false) }
        values.append(bytes)
        places[place] = UInt32(count)
        return (UInt32(count - 1), true)
    }

    private mutating func grow() {
        places = [UInt32](repeating: 0, count: 4 * places.count)
        for number in 0..<count {
            var place = Int(truncatingIfNeeded: values.withBytes(number, Self.hash)) & (places.count - 1)
            while places[place] != 0 { place = (place + 1) & (places.count - 1) }
            places[place] = UInt32(number + 1)
        }
    }

    /// A hash of the bytes. Eight bytes are combined at a time.
    static func hash(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = UInt64(bytes.count)
        var offset = 0
        func combine(_ word: UInt64) {
            hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
            hash ^= hash >> 32
        }
        while offset + 8 <= bytes.count {
            combine(bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            offset += 8
        }
        var rest: UInt64 = 0
        while offset < bytes.count {
            rest = rest << 8 | UInt64(bytes[offset])
            offset += 1
        }
        combine(rest)
        return hash
    }
}
