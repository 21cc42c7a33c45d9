/// An error in the text of a sort.
package struct SortError: Error, Sendable, Equatable {
    /// The invalid word.
    package let word: String
    package let reason: String
    /// A suggested key.
    package let hint: String?

    package var detail: String { "\(reason)\(word.isEmpty ? "" : ": “\(word)”")" }
}
