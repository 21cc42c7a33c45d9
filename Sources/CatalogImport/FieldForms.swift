package import Catalog

/// The forms of the fields of a file: the decimal marks of prices, and the separator of tags.
package struct FieldForms: Sendable {
    /// The columns with amounts of money.
    static let amounts: [ImportColumn] = [.price, .promoPrice, .regularPrice, .deposit, .unitPrice]

    private let given: DecimalMark?
    private var decimals: [ImportColumn: DecimalEvidence] = [:]
    /// Whether commas separate tags.
    private(set) var hasTagsWithCommas = false

    /// The separators of several values of a cell, as the profile says.
    let separators: [ImportColumn: String]

    package init(_ options: ImportOptions) {
        given = options.dialect.decimalMark
        separators = options.profile.separators
    }

    /// The decimal mark of a column.
    subscript(column: ImportColumn) -> DecimalEvidence { decimals[column] ?? DecimalEvidence(given) }

    /// Notes that a field is a number of JSON, which has a decimal point.
    mutating func setNumber(_ column: ImportColumn) { decimals[column] = DecimalEvidence(.point) }

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
        if separators[.tags] == nil, let index = columns.index(of: .tags) { findTagSeparator(events, index) }
    }

    /// Commas separate tags if a text of several tags has a tag of another text, and no text has another separator.
    private mutating func findTagSeparator(_ events: ArraySlice<RecordSplitter.Event>, _ index: Int) {
        var texts: Set<String> = []
        for case .csv(let record) in events where index < record.count {
            if let text = record.text(index) { texts.insert(text) }
        }
        guard !texts.contains(where: { $0.contains { "|;".contains($0) } }) else { return }
        var seen: Set<String> = []
        for text in texts {
            let tags = Set(text.split(separator: ",").map { String($0).trimmed })
            guard seen.isDisjoint(with: tags) else {
                hasTagsWithCommas = texts.contains { $0.contains(",") }
                return
            }
            seen.formUnion(tags)
        }
    }
}

extension ImportOptions {
    /// The columns without which a CSV file cannot be imported.
    var requiredColumns: [ImportColumn] {
        let needed: [ImportColumn] = store == nil ? [.store, .sku, .name] : [.sku, .name]
        return needed.filter { profile.mapping.constant($0) == nil }
    }
}
