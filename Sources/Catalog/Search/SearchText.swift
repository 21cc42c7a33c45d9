/// The text of a search, `q`: at most 100 characters and 8 words, with one space between words.
package struct SearchText: Hashable, Sendable, CustomStringConvertible {
    package let text: String

    /// The maximum number of characters, as Unicode scalars.
    package static let characterLimit = 100
    /// The maximum number of words between white space.
    package static let partLimit = 8
    /// The maximum number of words after letters and digits are split.
    package static let wordLimit = 32

    package init(_ text: String) throws(SearchTextError) {
        try Self.check(text)
        self.text = Self.parts(text).map { String($0) }.joined(separator: " ")
    }

    /// Reads the parameter of a request.
    ///
    /// - Throws: `malformed`.
    package init(parameter text: String) throws(CatalogError) {
        do throws(SearchTextError) { try self.init(text) } catch { throw error.catalogError }
    }

    package var description: String { text }

    /// Checks a text that has not been normalized.
    package static func check(_ text: String) throws(SearchTextError) {
        let count = text.unicodeScalars.count
        guard count <= characterLimit else { throw .tooLong(count) }
        let parts = parts(text).map { FoldedText(String($0)).words.count }.filter { $0 > 0 }
        guard !parts.isEmpty else { throw .noWord }
        guard parts.count <= partLimit else { throw .tooManyWords(parts.count) }
        let words = parts.reduce(0, +)
        guard words <= wordLimit else { throw .tooManyParts(words) }
    }

    private static func parts(_ text: String) -> [Substring.UnicodeScalarView] {
        text.unicodeScalars.split(whereSeparator: \.properties.isWhitespace)
    }
}

/// An error in the text of a search.
package enum SearchTextError: Error, Sendable, Hashable {
    /// The number of characters.
    case tooLong(Int)
    case noWord
    /// The number of words between white space.
    case tooManyWords(Int)
    /// The number of words after letters and digits are split.
    case tooManyParts(Int)

    package var detail: String {
        switch self {
        case .tooLong(let count): "must have at most \(SearchText.characterLimit) characters (got \(count))"
        case .noWord: "must have a letter or a digit"
        case .tooManyWords(let count): "must have at most \(SearchText.partLimit) words (got \(count))"
        case .tooManyParts(let count):
            "must have at most \(SearchText.wordLimit) words and numbers, if letters and digits are split (got \(count))"
        }
    }

    /// The error of a request.
    package var catalogError: CatalogError {
        let advice = self == .noWord ? "; leave it out to see all products" : ""
        return .malformed(parameter: "q", detail: "q \(detail)\(advice)")
    }
}
