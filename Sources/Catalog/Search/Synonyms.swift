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
    /// The maximum number of other texts that a text finds.
    package static let targetLimit = 100

    private init(checked groups: [[String]], _ oneWay: [OneWay]) { (self.groups, self.oneWay) = (groups, oneWay) }

    /// - Precondition: each list could be the only one.
    init(readable groups: [[String]], _ oneWay: [OneWay]) { self.init(checked: groups, oneWay) }

    /// The synonyms with those of another owner. Both are within the limits, but together they need not be.
    package func adding(_ other: Synonyms) -> Synonyms {
        Synonyms(checked: groups + other.groups, oneWay + other.oneWay)
    }

    /// - Parameters:
    ///   - groups: texts of one or more words, each of which finds the others of its group.
    ///   - oneWay: texts that find others, which do not find them.
    package init(groups: [[String]], oneWay: [OneWay]) throws(SynonymError) {
        guard groups.count + oneWay.count <= Self.limit else {
            throw SynonymError(
                path: nil,
                reason: "must have at most \(Self.limit) groups and one-way rules (got \(groups.count + oneWay.count))"
            )
        }
        for (number, group) in groups.enumerated() {
            let path = "synonyms[\(number)]"
            guard (2...Self.textLimit).contains(group.count) else {
                throw SynonymError(path: path, reason: "must have 2 to \(Self.textLimit) texts (got \(group.count))")
            }
            for (index, text) in group.enumerated() { try Self.check(text, "\(path)[\(index)]") }
        }
        for (number, rule) in oneWay.enumerated() {
            let path = "one_way[\(number)]"
            try Self.check(rule.from, "\(path).from")
            guard (1...Self.textLimit).contains(rule.to.count) else {
                throw SynonymError(
                    path: "\(path).to",
                    reason: "must have 1 to \(Self.textLimit) texts (got \(rule.to.count))"
                )
            }
            for (index, text) in rule.to.enumerated() { try Self.check(text, "\(path).to[\(index)]") }
        }
        try Self.checkTargets(groups, oneWay)
        self.init(checked: groups, oneWay)
    }

    /// Checks that no text finds too many others. Texts with the same words are one.
    private static func checkTargets(_ groups: [[String]], _ oneWay: [OneWay]) throws(SynonymError) {
        let lists =
            groups.enumerated().flatMap { number, group in
                let words = group.map(FoldedText.words)
                return words.indices.map { (from: words[$0], to: words, path: "synonyms[\(number)][\($0)]") }
            }
            + oneWay.enumerated().map { number, rule in
                (from: FoldedText.words(rule.from), to: rule.to.map(FoldedText.words), path: "one_way[\(number)].from")
            }
        var counts: [[[UInt8]]: Int] = [:]
        for list in lists { counts[list.from, default: 0] += list.to.count }
        var targets: [[[UInt8]]: Set<[[UInt8]]>] = [:]
        // Most texts are in few lists and need no set.
        for list in lists where counts[list.from]! > targetLimit {
            targets[list.from, default: []].formUnion(list.to.filter { $0 != list.from })
            guard targets[list.from]!.count <= targetLimit else {
                throw SynonymError(
                    path: list.path,
                    reason: "must find at most \(targetLimit) other texts in all lists"
                )
            }
        }
    }

    private static func check(_ text: String, _ path: String) throws(SynonymError) {
        guard text.utf8.count <= byteLimit else {
            throw SynonymError(path: path, reason: "must have at most \(byteLimit) bytes (got \(text.utf8.count))")
        }
        let words = FoldedText(text).words.count
        guard (1...wordLimit).contains(words) else {
            throw SynonymError(path: path, reason: "must have 1 to \(wordLimit) words (got \(words))")
        }
    }
}

/// An error in a list of synonyms.
package struct SynonymError: Error, Sendable, Hashable {
    /// The path in the document, such as `synonyms[2][0]`; nil for the document.
    package let path: String?
    package let reason: String
}
