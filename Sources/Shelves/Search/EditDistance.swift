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
}

/// The distances of many words from one word, in memory that is used again.
struct EditDistances {
    private let word: [UInt32]
    private var letters: [UInt32] = []
    /// The distances of the beginnings of both words: the current row of the table, and the two before it.
    private var row: [Int] = []
    private var previous: [Int] = []
    private var before: [Int] = []

    /// - Parameter word: UTF-8.
    init(_ word: [UInt8]) {
        var letters: [UInt32] = []
        word.withUnsafeBufferPointer { Self.decode($0, into: &letters) }
        self.word = letters
    }

    /// The number of letters of the word.
    var letterCount: Int { word.count }

    private static func decode(_ bytes: UnsafeBufferPointer<UInt8>, into letters: inout [UInt32]) {
        letters.removeAll(keepingCapacity: true)
        // Letters are only compared, so their bytes are as good as their code points.
        for byte in bytes {
            if byte & 0xC0 == 0x80 {
                letters[letters.count - 1] = letters[letters.count - 1] << 8 | UInt32(byte)
            } else {
                letters.append(UInt32(byte))
            }
        }
    }

    /// Returns the distance of another word; nil if it is greater than a limit.
    ///
    /// - Complexity: O(*n* *k*) for *n* letters and a limit of *k*.
    mutating func distance(to other: UnsafeBufferPointer<UInt8>, limit: Int) -> Int? {
        Self.decode(other, into: &letters)
        let count = letters.count
        guard abs(count - word.count) <= limit else { return nil }
        row.removeAll(keepingCapacity: true)
        row.append(contentsOf: 0...count)
        for i in word.indices {
            swap(&before, &previous)
            swap(&previous, &row)
            // Farther from the diagonal than the limit, all distances are greater than the limit.
            row.removeAll(keepingCapacity: true)
            row.append(contentsOf: repeatElement(limit + 1, count: count + 1))
            if i < limit { row[0] = i + 1 }
            var least = row[0]
            for j in max(0, i - limit)..<min(count, i + limit + 1) {
                var edits = min(previous[j + 1] + 1, row[j] + 1, previous[j] + (word[i] == letters[j] ? 0 : 1))
                if i > 0, j > 0, word[i] == letters[j - 1], word[i - 1] == letters[j] {
                    edits = min(edits, before[j - 1] + 1)
                }
                row[j + 1] = edits
                least = min(least, edits)
            }
            if least > limit { return nil }
        }
        return row[count] <= limit ? row[count] : nil
    }
}
