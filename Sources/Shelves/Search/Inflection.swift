/// The inflected forms of words, such as plurals, by the rules of some languages.
///
/// Each word has stems. Two words are forms of each other if they share one. The rules are light: they know endings, not words, so that they need
/// no dictionary. A class of exact words comes before that of forms, so a wrong form costs little.
package struct Inflection: Sendable, Equatable {
    package let languages: [InflectionLanguage]
    private let rules: [InflectionRules]

    /// - Parameter languages: the languages of the texts; without one, a word has no other forms.
    package init(_ languages: [InflectionLanguage] = []) {
        self.languages = languages
        rules = languages.map(\.rules)
    }

    package static func == (a: Inflection, b: Inflection) -> Bool { a.languages == b.languages }

    /// A stem with the rule that has its endings.
    struct Stem: Sendable, Hashable {
        let rule: Int
        let bytes: ArraySlice<UInt8>
    }

    /// Calls a body with each stem of a folded word.
    ///
    /// - Complexity: O(*e*) for *e* endings of the languages.
    func forEachStem(of word: ArraySlice<UInt8>, _ body: (Stem) -> Void) {
        var offset = 0
        for rules in rules {
            rules.forEachStem(of: word) { body(Stem(rule: offset + $0, bytes: $1)) }
            offset += rules.ruleCount
        }
    }

    /// Whether two different folded words are forms of each other.
    package func areForms(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
        guard !a.elementsEqual(b) else { return false }
        // A stem begins a word; only irregular words may share one and begin differently.
        guard a.first == b.first else { return rules.contains { $0.areIrregularForms(a, b) } }
        var (stems, isFound) = ([Stem](), false)
        forEachStem(of: a) { stems.append($0) }
        guard !stems.isEmpty else { return false }
        forEachStem(of: b) { stem in isFound = isFound || stems.contains(stem) }
        return isFound
    }
}

/// A language with rules for inflected forms.
package enum InflectionLanguage: String, Sendable, CaseIterable {
    case english = "en"
    case german = "de"
    case croatian = "hr"
    case russian = "ru"

    /// Creates the language of a BCP 47 tag, such as `de-AT`; nil for a language without rules.
    package init?(tag: String) {
        self.init(rawValue: String(tag.prefix { $0 != "-" }).lowercased())
    }

    var rules: InflectionRules {
        switch self {
        case .english: .english
        case .german: .german
        case .croatian: .croatian
        case .russian: .russian
        }
    }
}

/// The endings of a language, and the words that do not follow them.
struct InflectionRules: Sendable {
    /// The endings of one kind of words. The words of a stem are forms of each other if they have these endings.
    struct Paradigm: Sendable {
        fileprivate let endings: [[UInt8]]
        fileprivate let leastLetters: Int
        fileprivate let after: [[UInt8]]
        fileprivate let notAfter: [[UInt8]]

        /// - Parameters:
        ///   - endings: folded endings, separated by white space; `-` for none.
        ///   - leastLetters: the least number of letters in a stem.
        ///   - after: the ends of the stems that have these endings; empty for all.
        ///   - notAfter: the ends of stems without these endings.
        init(_ endings: String, leastLetters: Int = 3, after: String = "", notAfter: String = "") {
            self.endings = Self.list(endings).map { $0 == [UInt8(ascii: "-")] ? [] : $0 }
            self.leastLetters = leastLetters
            self.after = Self.list(after)
            self.notAfter = Self.list(notAfter)
        }

        private static func list(_ text: String) -> [[UInt8]] {
            text.utf8.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }.map(Array.init)
        }

        fileprivate func accepts(_ stem: ArraySlice<UInt8>) -> Bool {
            guard stem.letterCount >= leastLetters else { return false }
            return (after.isEmpty || after.contains { stem.hasSuffix($0) }) && !notAfter.contains { stem.hasSuffix($0) }
        }
    }

    private let paradigms: [Paradigm]
    /// An ending with its paradigm, by the last byte of the ending. An empty ending has the index 0: no word has that byte.
    private let endings: [[(ending: [UInt8], paradigm: Int)]]
    /// The list of forms, below, that has a word.
    private let irregular: [[UInt8]: Int]

    /// - Parameters:
    ///   - paradigms: the endings of regular words.
    ///   - irregular: lists of folded words, one in each line. The words of a line are forms of each other, and of no other words.
    init(_ paradigms: [Paradigm], irregular: String) {
        self.paradigms = paradigms
        var endings = [[(ending: [UInt8], paradigm: Int)]](repeating: [], count: 256)
        for (number, paradigm) in paradigms.enumerated() {
            for ending in paradigm.endings { endings[Int(ending.last ?? 0)].append((ending, number)) }
        }
        self.endings = endings
        var lists: [[UInt8]: Int] = [:]
        for (number, line) in irregular.utf8.split(separator: UInt8(ascii: "\n")).enumerated() {
            for word in line.split(separator: UInt8(ascii: " ")) { lists[Array(word)] = number }
        }
        self.irregular = lists
    }

    /// The number of rules: the paradigms, and the lists of irregular words.
    var ruleCount: Int { paradigms.count + 1 }

    /// Calls a body with each stem of a word and the number of its rule.
    fileprivate func forEachStem(of word: ArraySlice<UInt8>, _ body: (Int, ArraySlice<UInt8>) -> Void) {
        guard let last = word.last, !isNumber(last) else { return }
        if let list = irregular[Array(word)] {
            return withUnsafeBytes(of: UInt32(list).littleEndian) { body(paradigms.count, Array($0)[...]) }
        }
        for index in [0, Int(last)] {
            for (ending, number) in endings[index] where word.hasSuffix(ending) {
                let stem = word.dropLast(ending.count)
                if paradigms[number].accepts(stem) { body(number, stem) }
            }
        }
    }

    fileprivate func areIrregularForms(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
        guard let list = irregular[Array(a)] else { return false }
        return list == irregular[Array(b)]
    }

    private func isNumber(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
}

extension ArraySlice<UInt8> {
    /// The number of characters of UTF-8.
    var letterCount: Int { count { $0 & 0xC0 != 0x80 } }

    func hasSuffix(_ end: [UInt8]) -> Bool { count >= end.count && suffix(end.count).elementsEqual(end) }
}
