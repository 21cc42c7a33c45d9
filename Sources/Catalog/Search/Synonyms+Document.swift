package import JSON

// The form of requests, responses, storage and the audit log.
extension Synonyms {
    /// The maximum length of a document, in bytes.
    package static let documentLimit = 256 << 10

    package var document: JSONValue {
        .object([
            .init("synonyms", .array(groups.map(Self.list))), .init("one_way", .array(oneWay.map(\.document))),
        ])
    }

    fileprivate static func list(_ texts: [String]) -> JSONValue { .array(texts.map { .string($0) }) }

    /// - Throws: `tooLarge`.
    package func checkLength() throws(CatalogError) {
        let length = document.text.utf8.count
        guard length <= Self.documentLimit else {
            throw .tooLarge("the synonyms have \(length) bytes; the maximum is \(Self.documentLimit)")
        }
    }

    // MARK: - Reading

    /// Reads the document of a request. Missing lists are empty.
    ///
    /// - Throws: `malformed` for another form, `unprocessable` for invalid texts, also for repeated ones in a list.
    package init(_ document: JSONValue) throws(CatalogError) {
        let members = try Self.members(document, nil, allowed: ["one_way", "synonyms"])
        var (groups, oneWay) = ([[String]](), [OneWay]())
        for (number, value) in try Self.elements(members["synonyms"], "synonyms").enumerated() {
            groups.append(try Self.texts(value, "synonyms[\(number)]"))
        }
        for (number, value) in try Self.elements(members["one_way"], "one_way").enumerated() {
            let path = "one_way[\(number)]"
            let rule = try Self.members(value, path, allowed: ["from", "to"])
            let from = try Self.text(rule["from"], "\(path).from")
            oneWay.append(OneWay(from: from, to: try Self.texts(rule["to"], "\(path).to")))
        }
        do { try self.init(groups: groups, oneWay: oneWay) } catch {
            throw .unprocessable(
                field: error.path ?? "synonyms",
                detail: "\(error.path ?? "synonyms and one_way") \(error.reason)"
            )
        }
        try checkRepetitions()
    }

    /// Checks that each list has different texts, by their folded words.
    private func checkRepetitions() throws(CatalogError) {
        for (number, group) in groups.enumerated() {
            try Self.checkRepetitions(group.enumerated().map { ("synonyms[\(number)][\($0)]", $1) })
        }
        for (number, rule) in oneWay.enumerated() {
            let targets = rule.to.enumerated().map { ("one_way[\(number)].to[\($0)]", $1) }
            try Self.checkRepetitions([("one_way[\(number)].from", rule.from)] + targets)
        }
    }

    private static func checkRepetitions(_ texts: [(path: String, text: String)]) throws(CatalogError) {
        var known: [[[UInt8]]: String] = [:]
        for (path, text) in texts {
            if let first = known.updateValue(path, forKey: FoldedText.words(text)) {
                throw .unprocessable(
                    field: path,
                    detail: "\(path) “\(text.visible)” has the same words as \(first); case and accents do not count"
                )
            }
        }
    }

    /// Reads a stored document, without the lists that a later release may have allowed.
    package init(stored document: JSONValue) {
        var (groups, oneWay) = ([[String]](), [OneWay]())
        func strings(_ value: JSONValue?) -> [String]? {
            guard case .array(let values)? = value else { return nil }
            var texts: [String] = []
            for case .string(let text) in values { texts.append(text) }
            return texts.count == values.count ? texts : nil
        }
        if case .array(let values)? = document["synonyms"] { groups = values.compactMap { strings($0) } }
        if case .array(let values)? = document["one_way"] {
            oneWay = values.compactMap { value in
                guard case .string(let from)? = value["from"], let to = strings(value["to"]) else { return nil }
                return OneWay(from: from, to: to)
            }
        }
        self.init(
            readable: groups.filter { (try? Synonyms(groups: [$0], oneWay: [])) != nil },
            oneWay.filter { (try? Synonyms(groups: [], oneWay: [$0])) != nil }
        )
    }

    private static func members(
        _ value: JSONValue,
        _ path: String?,
        allowed: [String]
    ) throws(CatalogError) -> [String: JSONValue] {
        guard case .object(let members) = value else {
            throw .malformed(parameter: path, detail: "\(path ?? "the body") must be a JSON object")
        }
        for member in members where !allowed.contains(member.name) {
            let name = (path.map { "\($0)." } ?? "") + member.name.visible.prefix(64)
            throw .malformed(parameter: name, detail: "unknown property “\(name)”", allowed: allowed)
        }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private static func elements(_ value: JSONValue?, _ path: String) throws(CatalogError) -> [JSONValue] {
        switch value {
        case nil, .null?: return []
        case .array(let elements)?: return elements
        default: throw .malformed(parameter: path, detail: "\(path) must be an array")
        }
    }

    private static func texts(_ value: JSONValue?, _ path: String) throws(CatalogError) -> [String] {
        guard case .array(let elements)? = value else {
            throw .malformed(parameter: path, detail: "\(path) must be an array of strings")
        }
        var texts: [String] = []
        for (index, element) in elements.enumerated() { texts.append(try text(element, "\(path)[\(index)]")) }
        return texts
    }

    private static func text(_ value: JSONValue?, _ path: String) throws(CatalogError) -> String {
        guard case .string(let text)? = value else {
            throw .malformed(parameter: path, detail: "\(path) must be a string")
        }
        let composed = text.trimmed.composed
        guard composed.isPrintable else {
            throw .unprocessable(
                field: path,
                detail: "\(path) must not contain control characters, such as line breaks"
            )
        }
        return composed
    }
}

extension Synonyms.OneWay {
    fileprivate var document: JSONValue {
        .object([.init("from", .string(from)), .init("to", Synonyms.list(to))])
    }
}

extension Synonyms {
    /// The lists that other synonyms do not have, each in the form of the document.
    func lists(without other: Synonyms?) -> [JSONValue] {
        let known = (groups: Set(other?.groups ?? []), oneWay: Set(other?.oneWay ?? []))
        return groups.filter { !known.groups.contains($0) }.map(Self.list)
            + oneWay.filter { !known.oneWay.contains($0) }.map(\.document)
    }

    /// Whether both have the same lists, in any order.
    func hasSameLists(as other: Synonyms) -> Bool {
        Set(groups) == Set(other.groups) && Set(oneWay) == Set(other.oneWay)
    }

    /// The number of groups and one-way rules.
    var count: Int { groups.count + oneWay.count }
}
