/// A title in some languages.
package struct AttributeTitles: Hashable, Sendable {
    /// The texts by BCP 47 tags, which differ in more than their case.
    package let texts: [String: String]

    package static let none = AttributeTitles(unchecked: [:])

    private init(unchecked texts: [String: String]) { self.texts = texts }

    /// - Parameter field: the name of the title in messages.
    /// - Throws: `unprocessable`.
    package init(_ texts: [String: String], field: String) throws(CatalogError) {
        try Self.checkLanguages(texts.count, field)
        for (language, text) in texts {
            guard Store.isLanguageTag(language) else {
                throw .unprocessable(
                    field: field,
                    detail: "\(field): “\(language.visible.prefix(64))” is not a BCP 47 language tag, such as en-IE"
                )
            }
            guard (1...Self.byteLimit).contains(text.utf8.count), text.isPrintable, text == text.trimmed else {
                throw .unprocessable(
                    field: field,
                    detail: """
                        \(field).\(language) must have 1 to \(Self.byteLimit) bytes of printable text without leading or \
                        trailing spaces
                        """
                )
            }
        }
        guard Set(texts.keys.map { $0.lowercased() }).count == texts.count else {
            throw .unprocessable(field: field, detail: "\(field) has a language twice")
        }
        self.texts = texts
    }

    /// The maximum number of languages.
    package static let languageLimit = 20
    /// The maximum length of a text in bytes.
    package static let byteLimit = 100

    package var isEmpty: Bool { texts.isEmpty }

    /// - Throws: `unprocessable` for too many languages.
    func checkLanguages(_ field: String) throws(CatalogError) { try Self.checkLanguages(texts.count, field) }

    private static func checkLanguages(_ count: Int, _ field: String) throws(CatalogError) {
        guard count <= languageLimit else {
            throw .unprocessable(
                field: field,
                detail: "\(field) must have at most \(languageLimit) languages (got \(count))"
            )
        }
    }

    /// Returns the title in a language; otherwise in a more general language, in English or in the first language by tag.
    ///
    /// - Parameter language: a BCP 47 tag. Without a text in `hr-HR`, that in `hr` is returned.
    package func text(in language: String) -> String? { text(in: [language]) }

    /// Returns the title in the first of some languages that has one, or else as in a single language.
    package func text(in languages: [String]) -> String? {
        let known = Dictionary(uniqueKeysWithValues: texts.map { ($0.key.lowercased(), $0.value) })
        for language in languages {
            var tag = language.lowercased()[...]
            while true {
                if let text = known[String(tag)] { return text }
                guard let end = tag.lastIndex(of: "-") else { break }
                tag = tag[..<end]
            }
        }
        return known["en"] ?? known.min { $0.key < $1.key }?.value
    }

    /// Returns the titles without those that are the same in other titles.
    package func removing(_ other: AttributeTitles) -> AttributeTitles {
        AttributeTitles(unchecked: texts.filter { other.texts[$0.key] != $0.value })
    }

    /// Returns the titles with those of an owner that overrides them, language by language.
    package func merging(_ own: AttributeTitles) -> AttributeTitles {
        let overridden = Set(own.texts.keys.map { $0.lowercased() })
        let kept = texts.filter { !overridden.contains($0.key.lowercased()) }
        return AttributeTitles(unchecked: kept.merging(own.texts) { $1 })
    }
}
