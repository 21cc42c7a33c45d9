/// The words with which files state whether customers can buy a product now.
package enum Availability {
    /// The maximum length of a text in bytes; a longer one is unknown.
    private static let lengthLimit = 100

    /// Parses a word of any language that imports know, such as `in_stock`, `ausverkauft` or `nedostupno`.
    ///
    /// Case, accents, spaces, hyphens, points and underscores are ignored, and so is the address before a term of
    /// schema.org. Numbers are not words, so they are unknown. Products that customers can only order in advance
    /// (`preorder`, `backorder`) are not available.
    ///
    /// - Returns: nil for a text that is unknown, or that two languages understand differently.
    /// - Complexity: O(n) in the length of the text, of which at most 100 bytes are read.
    package static func parse(_ text: String) -> Bool? {
        guard text.utf8.count <= lengthLimit else { return nil }
        var word = text[...]
        for prefix in ["https://schema.org/", "http://schema.org/"] where word.lowercased().hasPrefix(prefix) {
            word = word.dropFirst(prefix.count)
        }
        return words[key(String(word))] ?? nil
    }

    /// The meaning of each word; nil if two languages disagree.
    private static let words: [String: Bool?] = {
        var words: [String: Bool?] = [:]
        for language in ImportLanguage.all {
            for (list, meaning) in [(language.available, true), (language.unavailable, false)] {
                for word in ImportLanguage.words(list) {
                    let key = key(word)
                    if let known = words[key], known != meaning {
                        words[key] = .some(nil)
                    } else {
                        words[key] = meaning
                    }
                }
            }
        }
        return words
    }()

    /// Returns a text in the form in which words are compared.
    package static func key(_ text: String) -> String {
        String(
            ImportLanguage.folded(text).unicodeScalars.filter {
                !$0.properties.isWhitespace && !["_", "-", ".", "!", "–", "’", "'"].contains($0)
            }.map(Character.init)
        )
    }
}
