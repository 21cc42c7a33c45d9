package import Catalog
internal import JSON

/// The forms of the fields of a file: the decimal marks of prices and attributes, and the separators of tags and sets.
package struct FieldForms: Sendable {
    /// The columns with amounts of money.
    static let amounts: [ImportColumn] = [.price, .promoPrice, .regularPrice, .deposit, .unitPrice]

    private let given: DecimalMark?
    private var decimals: [ImportColumn: DecimalEvidence] = [:]
    /// Whether commas separate tags.
    private(set) var hasTagsWithCommas = false

    /// The separators of several values of a cell, as the profile says.
    let separators: [ImportColumn: String]
    /// The evidence in the columns of attributes, by name.
    private var attributes: [String: AttributeEvidence] = [:]
    /// The arrays and objects of JSON that a row has for attributes, by their texts.
    private var values: [String: JSONValue] = [:]
    /// The attributes for which a row has a number of JSON.
    private var numbers: Set<String> = []

    /// The evidence for the form of an attribute's cells.
    private struct AttributeEvidence {
        var decimals: DecimalEvidence
        /// The mark between the elements of a set; nil if the cells do not show it.
        var mark: SetMark?
    }

    package init(_ options: ImportOptions) {
        given = options.dialect.decimalMark
        separators = options.profile.separators
    }

    /// The decimal mark of a column.
    subscript(column: ImportColumn) -> DecimalEvidence { decimals[column] ?? DecimalEvidence(given) }

    /// Returns the form of the cells of an attribute.
    func cells(of attribute: ResolvedColumns.Attribute, _ words: FileWords) -> AttributeCells {
        let evidence = attributes[attribute.name]
        var separator = separators[.tags]
        if case .all(let own)? = attribute.source.part { separator = own }
        // A number of JSON has a decimal point.
        let isNumber = numbers.contains(attribute.name)
        return AttributeCells(
            decimals: isNumber ? DecimalEvidence(.point) : evidence?.decimals ?? DecimalEvidence(given),
            separator: separator,
            mark: evidence?.mark ?? (hasTagsWithCommas ? .comma : nil),
            words: words
        )
    }

    /// How a row has the field of an attribute: as a text, or as a value of JSON.
    enum Kind { case text, number, structure }

    /// Returns how a row has the field of an attribute.
    func kind(of attribute: String, _ text: String) -> Kind {
        if values[text] != nil { return .structure }
        return numbers.contains(attribute) ? .number : .text
    }

    /// Returns the array or object of JSON that the text of an attribute is; nil for any other text.
    func value(ofCell text: String) -> JSONValue? { values[text] }

    /// Notes that a field is a number of JSON, which has a decimal point.
    mutating func setNumber(_ column: ImportColumn) { decimals[column] = DecimalEvidence(.point) }

    /// Notes that the field of an attribute is a number of JSON.
    mutating func setNumber(attribute: String) { numbers.insert(attribute) }

    /// Notes an array or an object of JSON; returns the text by which the row has it.
    mutating func set(_ value: JSONValue) -> String {
        let text = value.text
        values[text] = value
        return text
    }

    /// Takes the first records of a file into account.
    mutating func add(_ events: ArraySlice<RecordSplitter.Event>, _ columns: FileColumns) {
        for column in Self.amounts {
            let indexes = columns.indexes(of: column)
            guard !indexes.isEmpty else { continue }
            var evidence = DecimalEvidence(given)
            for case .csv(let record) in events {
                for index in indexes where index < record.count {
                    if let text = record.text(index) { evidence.add(text.trimmed) }
                }
            }
            decimals[column] = evidence
        }
        if separators[.tags] == nil, let index = columns.index(of: .tags) {
            hasTagsWithCommas = Self.mark(events, [index]) == .comma
        }
        for attribute in columns.resolved.attributes {
            add(events, attribute, columns.definitions(of: attribute.name))
        }
    }

    /// Takes the first cells of an attribute into account.
    private mutating func add(
        _ events: ArraySlice<RecordSplitter.Event>,
        _ attribute: ResolvedColumns.Attribute,
        _ definitions: [AttributeDefinition]
    ) {
        let indexes = attribute.source.alternatives.flatMap(\.self)
        var evidence = AttributeEvidence(decimals: DecimalEvidence(given))
        let numbers = definitions.filter { if case .number = $0.form { true } else { false } }
        if !numbers.isEmpty {
            let units = numbers.compactMap(\.unit)
            for text in Self.texts(events, indexes).map(\.trimmed) {
                let unit = units.first { text.hasSuffix($0) }
                evidence.decimals.add(DecimalEvidence.number(text, without: unit))
            }
        }
        if definitions.contains(where: { if case .set = $0.form { true } else { false } }) {
            evidence.mark = Self.mark(events, indexes)
        }
        attributes[attribute.name] = evidence
    }

    /// Returns the different texts of columns of a CSV file.
    private static func texts(_ events: ArraySlice<RecordSplitter.Event>, _ indexes: [Int]) -> Set<String> {
        var texts: Set<String> = []
        for case .csv(let record) in events {
            for index in indexes where index < record.count {
                if let text = record.text(index) { texts.insert(text) }
            }
        }
        return texts
    }

    /// Returns the mark between the values in cells: a bar if any text has one, or else a semicolon. Commas separate if a text of several
    /// values has a value of another text, and no text has another mark. Returns nil if the texts do not show it.
    private static func mark(_ events: ArraySlice<RecordSplitter.Event>, _ indexes: [Int]) -> SetMark? {
        let texts = texts(events, indexes)
        if texts.contains(where: { $0.contains("|") }) { return .bar }
        if texts.contains(where: { $0.contains(";") }) { return .semicolon }
        var seen: Set<String> = []
        for text in texts {
            let values = Set(text.split(separator: ",").map { String($0).trimmed })
            guard seen.isDisjoint(with: values) else { return texts.contains { $0.contains(",") } ? .comma : nil }
            seen.formUnion(values)
        }
        return nil
    }
}

extension ImportOptions {
    /// The columns without which a CSV file cannot be imported.
    var requiredColumns: [ImportColumn] {
        let needed: [ImportColumn] = store == nil ? [.store, .sku, .name] : [.sku, .name]
        return needed.filter { profile.mapping.constant($0) == nil }
    }
}
