internal import Catalog

/// The meaning of a word in sizes.
struct SizeWord: Hashable {
    enum Content: Hashable {
        case unit(MeasureUnit)
        case customary(ImportLanguage.CustomaryUnit)
        case bundle, container, item
    }

    struct Roles: OptionSet, Hashable {
        let rawValue: UInt16
        /// Multiplies numbers without a noun between them: `x`.
        static let times = Roles(rawValue: 1)
        static let connector = Roles(rawValue: 2)
        static let net = Roles(rawValue: 4)
        static let drained = Roles(rawValue: 8)
        static let approximate = Roles(rawValue: 16)
        static let per = Roles(rawValue: 32)
        static let range = Roles(rawValue: 64)
        static let label = Roles(rawValue: 128)
        static let half = Roles(rawValue: 256)
        static let trait = Roles(rawValue: 512)
        /// The estimated sign `℮`, also written as the letter.
        static let estimated = Roles(rawValue: 1024)
    }

    var content: Content?
    var roles: Roles = []

    var isUnknown: Bool { content == nil && roles.isEmpty }
}

/// The words of all languages.
struct SizeLexicon {
    /// The words without context, and with the words of a store's language where languages disagree.
    private static let shared = SizeLexicon(language: nil)
    private static let byLanguage = Dictionary(
        uniqueKeysWithValues: ImportLanguage.all.filter { !$0.code.isEmpty }.map {
            ($0.code, SizeLexicon(language: $0))
        }
    )

    /// - Parameter language: an ISO 639-1 code; a language without words does not matter.
    static func lexicon(for language: String?) -> SizeLexicon { language.flatMap { byLanguage[$0] } ?? shared }

    private(set) var words: [String: SizeWord] = [:]
    /// The number of words of the longest phrase by its first word.
    private(set) var phraseLengths: [String: Int] = [:]
    /// The words that languages understand differently, and that stay unknown.
    private(set) var disputed: Set<String> = []

    private init(language preferred: ImportLanguage?) {
        for language in ImportLanguage.all {
            for (text, word) in Self.words(of: language) {
                if let known = words[text] {
                    words[text] = Self.merge(known, word)
                    if words[text] == SizeWord() { disputed.insert(text) }
                } else {
                    words[text] = word
                }
            }
        }
        for text in disputed { words[text] = SizeWord() }
        if let preferred {
            for (text, word) in Self.words(of: preferred) where disputed.contains(text) {
                words[text] = word
                disputed.remove(text)
            }
        }
        for text in words.keys where text.contains(" ") {
            let parts = text.split(separator: " ")
            phraseLengths[String(parts[0])] = max(phraseLengths[String(parts[0])] ?? 0, parts.count)
        }
    }

    /// Merges the meanings in two languages; an empty meaning if they contradict each other.
    private static func merge(_ a: SizeWord, _ b: SizeWord) -> SizeWord {
        if let first = a.content, let second = b.content, first != second { return SizeWord() }
        let roles = a.roles.union(b.roles)
        let content = a.content ?? b.content
        // A word between two numbers must not mean both “times” and “to”.
        if roles.contains(.range), !roles.isDisjoint(with: [.connector, .times]) { return SizeWord() }
        return SizeWord(content: content, roles: roles)
    }

    private static func words(of language: ImportLanguage) -> [String: SizeWord] {
        var words: [String: SizeWord] = [:]
        func add(_ list: String, _ content: SizeWord.Content?, _ roles: SizeWord.Roles = []) {
            for text in list.split(separator: ",") {
                let key = SizeTerm.phrase(String(text))
                words[key, default: SizeWord()].roles.formUnion(roles)
                if let content { words[key]?.content = content }
            }
        }
        for (unit, list) in language.units { add(list, .unit(unit)) }
        for (unit, list) in language.customaryUnits { add(list, .customary(unit)) }
        add(language.bundles, .bundle)
        add(language.containers, .container)
        add(language.items, .item)
        add(language.connectors, nil, language.code.isEmpty ? .times : .connector)
        add(language.net, nil, .net)
        add(language.drained, nil, .drained)
        add(language.approximate, nil, .approximate)
        add(language.per, nil, .per)
        add(language.ranges, nil, .range)
        add(language.labels, nil, .label)
        add(language.halves, nil, .half)
        add(language.traits, nil, .trait)
        if language.code.isEmpty { add("℮, e", nil, .estimated) }
        return words
    }
}
