internal import Catalog

/// A text in each language of the server.
typealias Texts = (en: String, ru: String)

/// A language of the server's texts.
package enum Language: String, CaseIterable, Sendable {
    case en, ru

    /// Returns the text in this language.
    func text(_ texts: Texts) -> String { self == .ru ? texts.ru : texts.en }

    /// Selects the best language for an `Accept-Language` header; defaults to English.
    ///
    /// Source: RFC 9110, section 12.5.4; a range matches the language it starts with.
    package init(accepting header: String?) {
        let known = Self.tags(accepting: header).lazy.compactMap { tag in
            Language(rawValue: tag.prefix { $0 != "-" }.lowercased())
        }
        self = known.first ?? .en
    }

    /// The languages of an `Accept-Language` header, the preferred ones first, as BCP 47 tags.
    package static func tags(accepting header: String?) -> [String] {
        let ranges = (header ?? "").split(separator: ",").prefix(32).map { range in
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " } }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return (tag: parts.first ?? "", quality: quality)
        }
        // Equal preferences keep their order.
        return ranges.enumerated().filter { $0.element.quality > 0 && Store.isLanguageTag($0.element.tag) }
            .sorted { ($1.element.quality, $0.offset) < ($0.element.quality, $1.offset) }.map(\.element.tag)
    }
}
