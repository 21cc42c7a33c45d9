package import Catalog
package import JSON

/// A mark between the values of a cell.
package enum SetMark: Sendable { case bar, semicolon, comma }

/// How the cells of a column state the values of an attribute.
package struct AttributeCells: Sendable {
    /// The decimal mark of the numbers, as the column shows it.
    var decimals = DecimalEvidence()
    /// The text between the elements of a set; nil for a mark.
    var separator: String?
    /// The mark between the elements of a set, as the column shows it; nil if it does not.
    var mark: SetMark?
    let words: FileWords

    /// The cells of exported files.
    package static let exported = AttributeCells(words: FileWords(ImportProfile()))

    init(
        decimals: DecimalEvidence = DecimalEvidence(),
        separator: String? = nil,
        mark: SetMark? = nil,
        words: FileWords
    ) {
        (self.decimals, self.separator, self.mark, self.words) = (decimals, separator, mark, words)
    }

    /// The reason why a cell has no value of the attribute.
    package struct Fault: Error, Equatable {
        package let reason: String

        static let controlCharacter = Fault(reason: "contains a control character; remove it")
    }

    /// A value that was read.
    package struct Value {
        package let json: JSONValue
        /// Whether the binary noise of a number was removed.
        package var wasRounded = false
    }

    // MARK: - Titles

    /// The beginning of a title that is that of an attribute only.
    private static let titlePrefix = AttributeReference.pathPrefix

    /// The titles of the other columns of imports, as they are compared.
    private static let otherTitles = Set(ImportColumn.allCases.map { ColumnTitle.key($0.columnName) })

    /// Returns the title of an attribute's column in exports: imports never take it for another column, or ignore it.
    package static func title(of name: String) -> String { titlePrefix + name }

    /// Returns whether a title, in lower case, can only be that of an attribute.
    static func isExplicit(_ title: String) -> Bool { title.hasPrefix(titlePrefix) }

    /// Returns the name of the attribute whose column may have a title; nil for the title of another column.
    ///
    /// - Parameters:
    ///   - title: the title in lower case.
    ///   - key: the title as it is compared.
    static func name(ofTitle title: String, key: String) -> String? {
        if isExplicit(title) { return String(title.dropFirst(titlePrefix.count)) }
        return otherTitles.contains(key) ? nil : title
    }

    // MARK: - Reading

    /// Reads the value that a cell states; nil if it looks empty.
    ///
    /// - Throws: `Fault`. Nothing is rounded or guessed.
    package func value(_ cell: String, of definition: AttributeDefinition) throws(Fault) -> Value? {
        let text = Self.prepared(cell)
        guard !text.isEmpty else { return nil }
        guard text.isPrintable else { throw .controlCharacter }
        let value: Value
        switch definition.form {
        case .number(let places): value = try number(text, decimals: places, unit: definition.unit)
        case .enumeration, .text, .unknown: value = Value(json: .string(text.composed))
        case .set: value = Value(json: .array(try elements(text).map { .string($0) }))
        case .boolean:
            guard let flag = flag(text) else { throw Fault(reason: "must be true or false, or a known word for it") }
            value = Value(json: .bool(flag))
        case .date:
            guard let time = FileTime(text), time.isDay else {
                throw Fault(reason: "must be a date, such as 2026-03-01 or 1.3.2026")
            }
            value = Value(json: .string(String(time.time.rfc3339.prefix(10))))
        case .ratio: throw Fault(reason: "must be empty, because the attribute is computed")
        }
        try Self.check(value.json, definition)
        return value
    }

    /// Reads an array or an object of JSON. The texts of a set are normalized as those of cells.
    ///
    /// - Throws: `Fault`.
    package func value(_ json: JSONValue, of definition: AttributeDefinition) throws(Fault) -> Value {
        var value = Value(json: json)
        if case .set = definition.form, case .array(let given) = json {
            var elements: [JSONValue] = []
            for element in given {
                let element =
                    if case .string(let text) = element { JSONValue.string(text.trimmed.composed) } else { element }
                if !elements.contains(element) { elements.append(element) }
            }
            value = Value(json: .array(elements))
        }
        try Self.check(value.json, definition)
        return value
    }

    private static func check(_ json: JSONValue, _ definition: AttributeDefinition) throws(Fault) {
        do { _ = try definition.value(json) } catch { throw Fault(reason: "must be \(error.expected)") }
    }

    /// Returns whether a cell looks empty: it has only spaces, line breaks, or the formula of an empty text.
    static func isEmpty(_ cell: String) -> Bool { prepared(cell).isEmpty }

    /// Returns the text of a cell without what spreadsheets add, and without line breaks.
    private static func prepared(_ cell: String) -> String {
        let text = (cell.isPrintable ? cell : cell.spaced).trimmed
        return text == "=\"\"" ? "" : ImportRecordReader.unescaped(text, .attributes)
    }

    private func number(_ text: String, decimals places: Int, unit: String?) throws(Fault) -> Value {
        let number: ExactDecimal
        do throws(DecimalEvidence.Fault) { number = try decimals.number(text, decimals: places, unit: unit) } catch {
            throw Fault(reason: error.reason)
        }
        let exact = number.withoutBinaryNoise
        return Value(json: .number(exact.description), wasRounded: exact != number)
    }

    private func flag(_ text: String) -> Bool? {
        switch text {
        case "1": true
        case "0": false
        default: words.isAvailable(text)
        }
    }

    /// Returns the different elements of a set. A separator alone is the empty set.
    ///
    /// - Throws: `Fault` for a text that may be one element or several.
    private func elements(_ text: String) throws(Fault) -> [String] {
        let parts: [String]
        if let separator {
            parts = ImportRecordReader.parts(text, separator)
        } else {
            guard !Self.isAmbiguous(text, mark) else {
                throw Fault(
                    reason: """
                        is ambiguous: commas or semicolons may separate elements; separate them with “|”, or set a separator in a profile
                        """
                )
            }
            let marks: Set<Character> = mark == .comma ? [","] : ["|", ";"]
            parts = text.split { marks.contains($0) }.map { String($0).trimmed }
        }
        var elements: [String] = []
        for part in parts.map(\.composed) where !part.isEmpty && !elements.contains(part) { elements.append(part) }
        return elements
    }

    /// Returns whether the text of a set may have other elements than those between its bars and semicolons, or between its commas.
    private static func isAmbiguous(_ text: String, _ mark: SetMark?) -> Bool {
        let (hasBars, hasSemicolons, hasCommas) = (text.contains("|"), text.contains(";"), text.contains(","))
        return switch mark {
        case .comma: hasBars || hasSemicolons
        // With a bar, commas belong to elements: exports write such a cell.
        case .bar: !hasBars && (hasSemicolons || hasCommas)
        case .semicolon, nil: !hasBars && !hasSemicolons && hasCommas
        }
    }

    // MARK: - Writing

    /// Returns the text of a cell that is read as a value; nil if there is none, such as for a value of another type.
    package func text(_ json: JSONValue, of definition: AttributeDefinition) -> String? {
        guard let text = Self.text(json, definition.form), !text.trimmed.isEmpty,
            let read = try? value(text, of: definition), Self.isSame(read.json, json)
        else { return nil }
        return text
    }

    /// Returns whether values are equal in the database: numbers by their value, and texts by their bytes.
    private static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool {
        if case .number = a { return a.isEquivalent(to: b) }
        return a.text.utf8.elementsEqual(b.text.utf8)
    }

    private static func text(_ json: JSONValue, _ form: AttributeForm) -> String? {
        switch (form, json) {
        case (.number, .number(let digits)): return ExactDecimal(jsonNumber: digits)?.description
        case (.enumeration, .string(let text)), (.text, .string(let text)), (.date, .string(let text)): return text
        case (.boolean, .bool(let flag)): return flag ? "true" : "false"
        case (.set, .array(let elements)):
            let texts = elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
            guard texts.count == elements.count else { return nil }
            // A bar after a single element with a comma, so that imports do not take the comma for a separator.
            let isPlain = texts.count > 1 || texts.count == 1 && !texts[0].contains(",")
            return texts.joined(separator: "|") + (isPlain ? "" : "|")
        default: return nil
        }
    }
}
