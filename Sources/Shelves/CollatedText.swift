/// A text and its sort key in the language of its store.
///
/// Texts are ordered by their keys and then by their bytes.
package struct CollatedText: Sendable {
    package let text: String
    package let key: [UInt8]

    package init(_ text: String, key: [UInt8]) {
        self.text = text
        self.key = key
    }
}

extension CollatedText: Hashable {
    package static func == (a: CollatedText, b: CollatedText) -> Bool {
        a.key == b.key && a.text.utf8.elementsEqual(b.text.utf8)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(key)
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension CollatedText {
    /// Compares with another text: negative, zero or positive.
    func compared(to other: CollatedText) -> Int {
        if key != other.key { return key.lexicographicallyPrecedes(other.key) ? -1 : 1 }
        if text.utf8.elementsEqual(other.text.utf8) { return 0 }
        return text.utf8.lexicographicallyPrecedes(other.text.utf8) ? -1 : 1
    }
}

/// The distinct texts of a shelf's rows, such as its brands, in their order: a text's number is its rank.
struct CollatedTexts: Sendable {
    private(set) var texts = TextColumn()
    private(set) var keys = TextColumn()

    init() {}

    /// - Precondition: both columns have the same number of rows.
    init(texts: TextColumn, keys: TextColumn) {
        precondition(texts.count == keys.count)
        (self.texts, self.keys) = (texts, keys)
    }

    var count: Int { texts.count }
    /// The size in memory, in bytes.
    var size: Int { texts.size + keys.size }

    /// Returns the number of a text; nil if it is not among them.
    func number(of text: CollatedText) -> UInt32? {
        let bytes = Array(text.text.utf8)
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            let order = compare(middle, text.key, bytes)
            if order == 0 { return UInt32(middle) }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return nil
    }

    /// Compares a text with another one: negative, zero or positive.
    func compare(_ number: Int, _ key: [UInt8], _ bytes: [UInt8]) -> Int {
        let order = keys.compare(number, key)
        return order != 0 ? order : texts.compare(number, bytes)
    }

    private static func compare(_ a: CollatedTexts, _ i: Int, _ b: CollatedTexts, _ j: Int) -> Int {
        let order = TextColumn.compare(a.keys, i, b.keys, j)
        return order != 0 ? order : TextColumn.compare(a.texts, i, b.texts, j)
    }

    /// Merges the used texts of several tables.
    ///
    /// - Parameter used: whether each text of each table is used.
    /// - Returns: the merged texts, and the new number of each text of each table; that of an unused text has no meaning.
    static func merged(_ all: [(texts: CollatedTexts, used: [Bool])]) -> (CollatedTexts, numbers: [[UInt32]]) {
        var sources: [(table: Int, number: Int)] = []
        for (table, part) in all.enumerated() {
            for number in 0..<part.texts.count where part.used[number] { sources.append((table, number)) }
        }
        sources.sort { compare(all[$0.table].texts, $0.number, all[$1.table].texts, $1.number) < 0 }
        var merged = CollatedTexts()
        var numbers = all.map { [UInt32](repeating: 0, count: $0.texts.count) }
        var last: (table: Int, number: Int)?
        for source in sources {
            let texts = all[source.table].texts
            if last.map({ compare(all[$0.table].texts, $0.number, texts, source.number) != 0 }) ?? true {
                merged.texts.append(texts.texts[source.number])
                merged.keys.append(texts.keys[source.number])
                last = source
            }
            numbers[source.table][source.number] = UInt32(merged.count - 1)
        }
        return (merged, numbers)
    }

    /// Numbers the distinct texts.
    static func numbered(_ texts: some Sequence<CollatedText>) -> (CollatedTexts, numbers: [CollatedText: UInt32]) {
        let distinct = Set(texts).sorted {
            $0.key != $1.key
                ? $0.key.lexicographicallyPrecedes($1.key)
                : $0.text.utf8.lexicographicallyPrecedes($1.text.utf8)
        }
        var result = CollatedTexts()
        result.texts.reserve(distinct.count, bytes: distinct.reduce(0) { $0 + $1.text.utf8.count })
        result.keys.reserve(distinct.count, bytes: distinct.reduce(0) { $0 + $1.key.count })
        var numbers: [CollatedText: UInt32] = [:]
        for (number, text) in distinct.enumerated() {
            result.texts.append(text.text.utf8)
            result.keys.append(text.key)
            numbers[text] = UInt32(number)
        }
        return (result, numbers)
    }
}

extension CollatedTexts {
    subscript(number: Int) -> CollatedText { CollatedText(texts.text(number), key: Array(keys[number])) }
}
