/// The distance between words: the least number of letters that are added, removed or replaced, and of neighbours that are swapped.
///
/// Letters between swapped neighbours are not edited, and no letter is edited twice (optimal string alignment). For one edit, this is the distance of
/// Damerau and Levenshtein.
enum EditDistance {
    /// Returns the end of the letter that begins at a byte of UTF-8.
    static func letterEnd(_ word: ArraySlice<UInt8>, _ start: Int) -> Int {
        word[(start + 1)...].firstIndex { $0 & 0xC0 != 0x80 } ?? word.endIndex
    }

    /// Whether exactly one edit leads from one word to the other.
    ///
    /// - Complexity: O(*n*).
    static func isOneEdit(_ a: UnsafeBufferPointer<UInt8>, _ b: UnsafeBufferPointer<UInt8>) -> Bool {
        let common = min(a.count, b.count)
        var start = 0
        while start < common, a[start] == b[start] { start += 1 }
        if start == a.count, start == b.count { return false }
        // Back to the beginning of a letter.
        while start > 0, isContinuation(a, start) || isContinuation(b, start) { start -= 1 }
        var end = 0
        while end < common - start, a[a.count - 1 - end] == b[b.count - 1 - end] { end += 1 }
        while end > 0, isContinuation(a, a.count - end) { end -= 1 }
        let (x, y) = (letters(a, start..<(a.count - end)), letters(b, start..<(b.count - end)))
        switch (x.count, y.count) {
        case (0, 1), (1, 0), (1, 1): return true
        case (2, 2): return x.first == y.last && x.last == y.first
        default: return false
        }
    }

    private static func isContinuation(_ word: UnsafeBufferPointer<UInt8>, _ index: Int) -> Bool {
        index < word.count && word[index] & 0xC0 == 0x80
    }

    /// The number of letters in a part of a word, and the first and the second one of two. More than two are counted as three.
    private static func letters(
        _ word: UnsafeBufferPointer<UInt8>,
        _ range: Range<Int>
    ) -> (count: Int, first: UInt32, last: UInt32) {
        var (count, first, last): (Int, UInt32, UInt32) = (0, 0, 0)
        for index in range {
            if word[index] & 0xC0 == 0x80 {
                last = last << 8 | UInt32(word[index])
            } else {
                count += 1
                if count > 2 { return (3, 0, 0) }
                if count == 2 { first = last }
                last = UInt32(word[index])
            }
        }
        return (count, count == 1 ? last : first, last)
    }

    /// Returns the letters of a folded word.
    static func letters(_ word: some Collection<UInt8>) -> [Unicode.Scalar] {
        Array(String(decoding: word, as: UTF8.self).unicodeScalars)
    }

    /// Returns the distance of two words; nil if it is greater than a limit.
    ///
    /// - Complexity: O(*n* *m*).
    static func distance(_ a: [Unicode.Scalar], _ b: [Unicode.Scalar], limit: Int) -> Int? {
        guard abs(a.count - b.count) <= limit else { return nil }
        var (before, previous) = ([Int](), [Int]())
        var row = Array(0...b.count)
        for i in a.indices {
            (before, previous) = (previous, row)
            row[0] = i + 1
            for j in b.indices {
                var edits = min(previous[j + 1] + 1, row[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { edits = min(edits, before[j - 1] + 1) }
                row[j + 1] = edits
            }
            if row.min()! > limit { return nil }
        }
        return row[b.count] <= limit ? row[b.count] : nil
    }
}
