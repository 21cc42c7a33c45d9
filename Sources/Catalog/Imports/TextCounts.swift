/// Texts of a file with the number of rows of each, in bounded memory.
package struct TextCounts: Sendable, Hashable {
    package struct Entry: Sendable, Hashable {
        /// The text; empty for rows without any.
        package let text: String
        package let count: Int
    }

    private var counts: [String: Int] = [:]

    /// The maximum number of different texts; further ones are not listed.
    private static let textLimit = 10_000
    /// The maximum number of characters of a text.
    private static let lengthLimit = 60
    private static let listLimit = 20

    package init() {}

    /// Counts a row.
    ///
    /// - Parameter text: its text; nil if it has none.
    package mutating func add(_ text: String?) {
        let text = String((text ?? "").unicodeScalars.prefix(Self.lengthLimit))
        guard counts[text] != nil || counts.count < Self.textLimit else { return }
        counts[text, default: 0] += 1
    }

    /// The 20 most frequent texts, the most frequent first.
    package var mostFrequent: [Entry] {
        let sorted = counts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        return sorted.prefix(Self.listLimit).map { Entry(text: $0.key, count: $0.value) }
    }
}
