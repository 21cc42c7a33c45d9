/// The synonyms of a store or a deployment.
package struct Synonyms: Sendable, Hashable {
    /// Words that are found by another one, but do not find it.
    package struct OneWay: Sendable, Hashable {
        package var from: String
        package var to: [String]

        package init(from: String, to: [String]) {
            self.from = from
            self.to = to
        }
    }

    package let groups: [[String]]
    package let oneWay: [OneWay]

    /// No synonyms.
    package static let none = Synonyms(checked: [], [])

    /// The maximum number of groups and one-way rules together.
    package static let limit = 2000
    /// The maximum number of texts in a group, and of targets of a one-way rule.
    package static let textLimit = 20
    /// The maximum number of bytes of a text.
    package static let byteLimit = 100
    /// The maximum number of words of a text.
    package static let wordLimit = 4

    private init(checked groups: [[String]], _ oneWay: [OneWay]) { (self.groups, self.oneWay) = (groups, oneWay) }

    /// - Parameters:
    ///   - groups: texts of one or more words, each of which finds the others of its group.
    ///   - oneWay: texts that find others, which do not find them.
    package init(groups: [[String]], oneWay: [OneWay]) throws(SynonymError) {
        guard groups.count + oneWay.count <= Self.limit else {
            throw SynonymError(
                place: nil,
                reason: "must have at most \(Self.limit) groups and one-way rules (got \(groups.count + oneWay.count))"
            )
        }
        for (number, group) in groups.enumerated() {
            let place = "synonyms[\(number)]"
            guard (2...Self.textLimit).contains(group.count) else {
                throw SynonymError(place: place, reason: "must have 2 to \(Self.textLimit) texts (got \(group.count))")
            }
            for (index, text) in group.enumerated() { try Self.check(text, "\(place)[\(index)]") }
        }
        for (number, rule) in oneWay.enumerated() {
            let place = "one_way[\(number)]"
            try Self.check(rule.from, "\(place).from")
            guard (1...Self.textLimit).contains(rule.to.count) else {
                throw SynonymError(
                    place: "\(place).to",
                    reason: "must have 1 to \(Self.textLimit) texts (got \(rule.to.count))"
                )
            }
            for (index, text) in rule.to.enumerated() { try Self.check(text, "\(place).to[\(index)]") }
        }
        self.init(checked: groups, oneWay)
    }

    private static func check(_ text: String, _ place: String) throws(SynonymError) {
        guard text.utf8.count <= byteLimit else {
            throw SynonymError(place: place, reason: "must have at most \(byteLimit) bytes (got \(text.utf8.count))")
        }
        let words = FoldedText(text).words.count
        guard (1...wordLimit).contains(words) else {
            throw SynonymError(place: place, reason: "must have 1 to \(wordLimit) words (got \(words))")
        }
    }
}

/// An error in a list of synonyms.
package struct SynonymError: Error, Sendable, Hashable {
    /// The place in the document, such as `synonyms[2][0]`; nil for the document.
    package let place: String?
    package let reason: String
}

/// The rules by which words match: inflected forms and synonyms.
package struct SearchRules: Sendable {
    package let inflection: Inflection
    package let synonyms: Synonyms

    /// Words that a text finds, if they are all in a product.
    struct Alternative: Sendable, Hashable {
        /// The words of the query that the alternative matches.
        let span: Range<Int>
        let words: [[UInt8]]
    }

    /// The words of a text, and those of the texts that it finds.
    private struct Rule: Sendable {
        let from: [[UInt8]]
        let to: [[[UInt8]]]
    }

    private let rules: [Rule]
    /// The numbers of the rules by their first word, and by its stems.
    private var numbers: [[UInt8]: [Int]] = [:]
    private var stemNumbers: [Inflection.Stem: [Int]] = [:]

    package init(inflection: Inflection = Inflection(), synonyms: Synonyms = .none) {
        self.inflection = inflection
        self.synonyms = synonyms
        func words(_ text: String) -> [[UInt8]] {
            let folded = FoldedText(text)
            return folded.words.map { Array(folded[$0]) }
        }
        var rules: [Rule] = []
        for group in synonyms.groups {
            let texts = group.map(words)
            for text in texts { rules.append(Rule(from: text, to: texts.filter { $0 != text })) }
        }
        for rule in synonyms.oneWay {
            let from = words(rule.from)
            rules.append(Rule(from: from, to: rule.to.map(words).filter { $0 != from }))
        }
        self.rules = rules
        for (number, rule) in rules.enumerated() {
            numbers[rule.from[0], default: []].append(number)
            inflection.forEachStem(of: rule.from[0][...]) { stem in
                stemNumbers[stem, default: []].append(number)
            }
        }
    }

    /// Returns the alternatives of adjacent words of a query. A word of a text may have another form in the query.
    func alternatives(_ query: SearchQuery) -> [Alternative] {
        guard !rules.isEmpty else { return [] }
        var found: Set<Alternative> = []
        for (place, word) in query.words.enumerated() {
            var candidates = Set(numbers[word.bytes] ?? [])
            inflection.forEachStem(of: word.bytes[...]) { candidates.formUnion(stemNumbers[$0] ?? []) }
            for number in candidates {
                let rule = rules[number]
                let span = place..<(place + rule.from.count)
                guard span.upperBound <= query.words.count,
                    zip(query.words[span], rule.from).allSatisfy({ isWordOrForm($0.bytes[...], $1[...]) })
                else { continue }
                for words in rule.to { found.insert(Alternative(span: span, words: words)) }
            }
        }
        return Array(found)
    }

    /// Whether two folded words are equal, or forms of each other.
    func isWordOrForm(_ a: ArraySlice<UInt8>, _ b: ArraySlice<UInt8>) -> Bool {
        a.elementsEqual(b) || inflection.areForms(a, b)
    }
}
