package import Catalog

/// The rules by which words match: inflected forms and synonyms.
package struct SearchRules: Sendable {
    package let inflection: Inflection
    package let synonyms: Synonyms

    /// A text that finds others.
    private struct Rule: Sendable {
        /// The numbers of its words.
        let from: [Int]
        let text: [[UInt8]]
        /// The number of the list of texts that it finds; the text itself may be one of them.
        let list: Int
    }

    private var rules: [Rule] = []
    private var lists: [[[[UInt8]]]] = []
    /// The words of all texts that find others.
    private var words = WordForms()
    /// The numbers of the rules by their first word.
    private var ruleNumbers: [[Int]] = []

    package init(inflection: Inflection = Inflection(), synonyms: Synonyms = .none) {
        self.inflection = inflection
        self.synonyms = synonyms
        for group in synonyms.groups {
            let texts = group.map(FoldedText.words)
            lists.append(texts)
            for text in texts { add(text) }
        }
        for rule in synonyms.oneWay {
            lists.append(rule.to.map(FoldedText.words))
            add(FoldedText.words(rule.from))
        }
    }

    /// The approximate size in memory, in bytes: that of most texts has a word or two.
    package var size: Int {
        let texts = synonyms.groups.reduce(0) { $0 + $1.count } + synonyms.oneWay.reduce(0) { $0 + 1 + $1.to.count }
        return MemoryLayout<SearchRules>.size + Self.textSize * texts
    }

    /// The size of a text with its words, its rule and its stems, in bytes.
    private static let textSize = 600

    /// Adds a rule for a text that finds those of the last list.
    private mutating func add(_ text: [[UInt8]]) {
        let from = text.map { words.number($0, inflection) }
        while ruleNumbers.count < words.count { ruleNumbers.append([]) }
        ruleNumbers[from[0]].append(rules.count)
        rules.append(Rule(from: from, text: text, list: lists.count - 1))
    }

    /// Returns the texts that adjacent words of a query find. A word of a text may have another form in the query.
    fileprivate func alternatives(_ query: SearchQuery) -> Set<Search.Alternative> {
        guard !rules.isEmpty else { return [] }
        let numbers = query.words.map { words.numbers(of: $0.bytes[...], inflection) }
        var found: Set<Search.Alternative> = []
        for start in numbers.indices {
            for rule in numbers[start].lazy.flatMap({ ruleNumbers[$0] }).map({ rules[$0] }) {
                let span = start..<(start + rule.from.count)
                guard span.upperBound <= numbers.count, zip(numbers[span], rule.from).allSatisfy({ $0.contains($1) })
                else { continue }
                for text in lists[rule.list] where text != rule.text {
                    found.insert(Search.Alternative(span: span, words: text))
                }
            }
        }
        return found
    }
}

/// Distinct words with numbers, to find those that are a word or a form of it.
private struct WordForms: Sendable {
    private var exact: [[UInt8]: Int] = [:]
    private var stems: [Inflection.Stem: [Int]] = [:]

    var count: Int { exact.count }

    /// Returns the number of a word, which gets one if it is new.
    mutating func number(_ word: [UInt8], _ inflection: Inflection) -> Int {
        if let known = exact[word] { return known }
        let number = exact.count
        exact[word] = number
        inflection.forEachStem(of: word[...]) { stems[$0, default: []].append(number) }
        return number
    }

    /// Returns the numbers of a word and of its forms.
    func numbers(of word: ArraySlice<UInt8>, _ inflection: Inflection) -> Set<Int> {
        var found: Set<Int> = []
        if let number = exact[Array(word)] { found.insert(number) }
        inflection.forEachStem(of: word) { found.formUnion(stems[$0] ?? []) }
        return found
    }
}

/// A query with the rules by which its words match.
package struct Search: Sendable {
    package let query: SearchQuery
    let inflection: Inflection
    /// Whether the last word may be unfinished. Forms of an unfinished word mislead, so they match only if no product completes it. Such a product
    /// has a word that begins with it, and matches the other words as beginnings or better.
    let isTyped: Bool
    /// The texts that the words of the query find as synonyms.
    let alternatives: [Alternative]
    /// The words of all alternatives.
    private var words = WordForms()
    /// The numbers of the words of each alternative.
    private let wordNumbers: [[Int]]

    /// A text that adjacent words of a query find. All of its words must be in a product.
    struct Alternative: Sendable, Hashable {
        /// The words of the query that the alternative matches.
        let span: Range<Int>
        let words: [[UInt8]]
    }

    /// - Parameter isTyped: whether a user is typing the text. Then the last word is finished only if the text goes on after it.
    /// - Complexity: O(*w* *r*) for *w* words of the query and *r* synonyms that begin with the same word.
    package init(_ query: SearchQuery, _ rules: SearchRules = SearchRules(), isTyped: Bool = false) {
        (self.query, self.isTyped) = (query, isTyped && query.endsWithWord)
        inflection = rules.inflection
        alternatives = Array(rules.alternatives(query))
        var words = WordForms()
        wordNumbers = alternatives.map { alternative in
            alternative.words.map { words.number($0, rules.inflection) }
        }
        self.words = words
    }

    /// Returns the words of a product that match together: those of an alternative, or of a word of the query that the product has as two words.
    ///
    /// - Parameters:
    ///   - texts: the folded texts of the product.
    ///   - limit: the worst class in use.
    func combinedWords(_ texts: [FoldedText], _ limit: SearchClass) -> Set<[UInt8]> {
        let splits = limit >= .compound ? query.splits : []
        guard limit >= .related, !alternatives.isEmpty || !splits.isEmpty else { return [] }
        let all = Set(texts.flatMap { text in text.words.map { Array(text[$0]) } })
        var combined: Set<[UInt8]> = []
        for split in splits where all.isSuperset(of: split.parts) { combined.formUnion(split.parts) }
        guard !alternatives.isEmpty else { return combined }
        var own: [Int: Set<[UInt8]>] = [:]
        for word in all {
            for number in words.numbers(of: word[...], inflection) { own[number, default: []].insert(word) }
        }
        for numbers in wordNumbers where numbers.allSatisfy({ own[$0] != nil }) {
            for number in numbers { combined.formUnion(own[number]!) }
        }
        return combined
    }
}
