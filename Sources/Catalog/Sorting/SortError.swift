/// Why a text names no sort.
package struct SortError: Error, Sendable, Equatable {
    /// The word that is wrong.
    package let word: String
    package let reason: String
    /// A key that was perhaps meant.
    package let hint: String?

    package var detail: String { "\(reason)\(word.isEmpty ? "" : ": “\(word)”")" }
}
