package import Catalog
package import JSON

/// How the cells of a column state the values of an attribute.
package struct AttributeCells: Sendable {
    /// The decimal mark of the numbers, as the column shows it.
    var decimals = DecimalEvidence()
    /// The text between the elements of a set; nil for a mark.
    var separator: String?
    /// Whether commas separate the elements of a set, and not bars and semicolons.
    var hasCommas = false
    let words: FileWords

    /// The cells of exported files.
    package static let exported = AttributeCells(words: FileWords(ImportProfile()))

    init(
        decimals: DecimalEvidence = DecimalEvidence(),
        separator: String? = nil,
        hasCommas: Bool = false,
        words: FileWords
    ) {
        (self.decimals, self.separator, self.hasCommas, self.words) = (decimals, separator, hasCommas, words)
    }

    /// The reason why a cell has no value of the attribute.
    package struct Fault: Error {
        package let reason: String
    }

    /// A value that was read.
    package struct Value {
        package let json: JSONValue
        /// Whether the binary noise of a number was removed.
        package var wasRounded = false
    }

    // MARK: - Titles

    /// The beginning of a title that is that of an attribute only.
    private static let titlePrefix = "attributes."

    /// The titles of the other columns of imports, as they are compared.
    private static let otherTitles = Set(ImportColumn.allCases.map { ColumnTitle.key($0.columnName) })

    /// Returns the title of an attribute's column in exports.
    package static func title(of name: String) -> String {
        otherTitles.contains(ColumnTitle.key(name)) ? titlePrefix + name : name
    }

    /// Returns the name of the attribute whose column may have a title; nil for the title of another column.
    ///
    /// - Parameters:
    ///   - title: the title in lower case.
    ///   - key: the title as it is compared.
    static func name(ofTitle title: String, key: String) -> String? {
        if title.hasPrefix(titlePrefix) { return String(title.dropFirst(titlePrefix.count)) }
        return otherTitles.contains(key) ? nil : title
    }

    // MARK: - Reading

    /// Reads the value that a cell states.
    ///
    /// - Parameter cell: the text of the cell, which is not blank.
    /// - Throws: `Fault`. Nothing is rounded or guessed.
    package func value(_ cell: String, of definition: AttributeDefinition) throws(Fault) -> Value {
        let text = try Self.prepared(cell)
        var value: Value
        switch definition.form {
        case .number(let places): value = try number(text, decimals: places, unit: definition.unit)
        case .enumeration, .text, .unknown: value = Value(json: .string(text.composed))
        case .set: value = Value(json: .array(elements(text).map { .string($0) }))
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
        do { _ = try definition.value(value.json) } catch { throw Fault(reason: "must be \(error.expected)") }
        return value
    }

    /// Returns the text of a cell without what spreadsheets add, and without line breaks.
    private static func prepared(_ cell: String) throws(Fault) -> String {
        let text = ImportRecordReader.unescaped((cell.isPrintable ? cell : cell.spaced).trimmed, .attributes)
        guard text.isPrintable else { throw Fault(reason: "contains a control character; remove it") }
        return text
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
    private func elements(_ text: String) -> [String] {
        let marks: Set<Character> = hasCommas ? [","] : ["|", ";"]
        let parts =
            separator.map { ImportRecordReader.parts(text, $0) }
            ?? text.split { marks.contains($0) }.map { String($0).trimmed }
        var elements: [String] = []
        for part in parts.map(\.composed) where !part.isEmpty && !elements.contains(part) { elements.append(part) }
        return elements
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
