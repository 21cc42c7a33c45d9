#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// Distinct folded words in ascending order of their bytes, one after another with a zero before and after each.
struct SearchWords: Sendable {
    private let arena: [UInt8]
    /// The index of the zero after each word.
    private let ends: [UInt32]

    /// - Parameter words: distinct words in ascending order.
    /// - Precondition: all words together have less than 4 GiB.
    init(_ words: some Sequence<ArraySlice<UInt8>>) {
        var (arena, ends): ([UInt8], [UInt32]) = ([0], [])
        for word in words {
            arena.append(contentsOf: word)
            precondition(arena.count <= UInt32.max, "the words of an index have less than 4 GiB")
            ends.append(UInt32(arena.count))
            arena.append(0)
        }
        (self.arena, self.ends) = (arena, ends)
    }

    var count: Int { ends.count }
    /// The size in memory, in bytes.
    var size: Int { arena.capacity + 4 * ends.capacity }

    subscript(word: Int) -> ArraySlice<UInt8> { arena[range(word)] }

    private func range(_ word: Int) -> Range<Int> { (word == 0 ? 1 : Int(ends[word - 1]) + 1)..<Int(ends[word]) }

    /// Returns the words that begin with a text.
    ///
    /// - Complexity: O(log *n*).
    func words(beginningWith text: some Collection<UInt8>) -> Range<Int> {
        // Text is UTF-8, so no word has the byte 0xFF.
        let text = Array(text)
        let start = firstIndex(notBefore: text)
        return start..<max(start, firstIndex(notBefore: text + [0xFF]))
    }

    /// Returns the number of a word; nil if it is not among them.
    func number(of word: some Collection<UInt8>) -> Int? {
        let index = firstIndex(notBefore: Array(word))
        return index < count && self[index].elementsEqual(word) ? index : nil
    }

    private func firstIndex(notBefore text: [UInt8]) -> Int {
        arena.withUnsafeBufferPointer { arena in
            text.withUnsafeBufferPointer { text in
                var (low, high) = (0, count)
                while low < high {
                    let middle = (low + high) / 2
                    if Self.isBefore(.init(rebasing: arena[range(middle)]), text) {
                        low = middle + 1
                    } else {
                        high = middle
                    }
                }
                return low
            }
        }
    }

    private static func isBefore(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        let common = min(a.count, b.count)
        if common > 0, let x = a.baseAddress, let y = b.baseAddress {
            let order = memcmp(x, y, common)
            if order != 0 { return order < 0 }
        }
        return a.count < b.count
    }

    /// Calls a body with each word that has a text anywhere.
    ///
    /// - Parameter text: at least two bytes.
    /// - Complexity: O(*n*) for *n* bytes of all words.
    func forEachWord(containing text: [UInt8], _ body: (Int) -> Void) {
        arena.withUnsafeBytes { arena in
            text.withUnsafeBytes { text in
                var (start, word) = (0, 0)
                while let found = Self.firstIndex(of: text, in: arena, from: start) {
                    word = index(ofByte: found, from: word)
                    body(word)
                    start = Int(ends[word])
                }
            }
        }
    }

    /// Calls a body with each word and its bytes.
    func forEach(_ body: (Int, UnsafeBufferPointer<UInt8>) -> Void) {
        arena.withUnsafeBufferPointer { arena in
            for word in 0..<count { body(word, UnsafeBufferPointer(rebasing: arena[range(word)])) }
        }
    }

    /// Returns the word that has a byte of the arena, from a word on.
    private func index(ofByte byte: Int, from word: Int) -> Int {
        var (low, high) = (word, count)
        while low < high {
            let middle = (low + high) / 2
            if Int(ends[middle]) <= byte { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Returns the first offset of a text in bytes. Both its first and its last byte are compared at eight offsets at a time.
    ///
    /// Source: Muła, "SIMD-friendly algorithms for substring searching", the generic algorithm for general-purpose registers.
    private static func firstIndex(
        of text: UnsafeRawBufferPointer,
        in bytes: UnsafeRawBufferPointer,
        from start: Int
    ) -> Int? {
        guard let wanted = text.baseAddress, let all = bytes.baseAddress else { return nil }
        let last = text.count - 1
        let ones: UInt64 = 0x0101_0101_0101_0101
        let (firsts, lasts) = (ones * UInt64(text[0]), ones * UInt64(text[last]))
        /// Returns eight bytes from an offset on, the first one as the lowest.
        func block(_ offset: Int) -> UInt64 {
            UInt64(littleEndian: all.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        }
        var offset = start
        while offset + last + 8 <= bytes.count {
            // A zero byte of the difference is a possible offset. The subtraction marks it, and sometimes the byte after it.
            let difference = (block(offset) ^ firsts) | (block(offset + last) ^ lasts)
            var zeros = (difference &- ones) & ~difference & (ones << 7)
            while zeros != 0 {
                let found = offset + zeros.trailingZeroBitCount / 8
                if memcmp(all + found, wanted, text.count) == 0 { return found }
                zeros &= zeros - 1
            }
            offset += 8
        }
        while offset + text.count <= bytes.count {
            if memcmp(all + offset, wanted, text.count) == 0 { return offset }
            offset += 1
        }
        return nil
    }

    /// Calls a body with each word that differs from a word by one edit after the first letter. The word itself does not.
    ///
    /// - Complexity: O(*n*) for *n* words with the same first letter.
    func forEachWord(withOneEditOf word: [UInt8], _ body: (Int) -> Void) {
        let candidates = words(beginningWith: word.prefix(EditDistance.letterEnd(word[...], 0)))
        arena.withUnsafeBufferPointer { arena in
            word.withUnsafeBufferPointer { word in
                for candidate in candidates {
                    let range = range(candidate)
                    // An edit changes at most a letter of four bytes.
                    guard abs(range.count - word.count) <= 4 else { continue }
                    if EditDistance.isOneEdit(.init(rebasing: arena[range]), word) { body(candidate) }
                }
            }
        }
    }
}
