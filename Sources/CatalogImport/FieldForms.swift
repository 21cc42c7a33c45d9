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

/// The words of a profile, in the form in which texts of rows are compared with them.
struct FileWords: Sendable {
    private var availability: [String: Bool] = [:]
    let units: [String: MeasureUnit]

    init(_ profile: ImportProfile) {
        for word in profile.words.available { availability[Availability.key(word)] = true }
        for word in profile.words.unavailable { availability[Availability.key(word)] = false }
        units = Dictionary(
            profile.words.units.map { (SizeTerm.phrase($0.key), $0.value) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Whether a text says that customers can buy a product now; nil for an unknown one.
    func isAvailable(_ text: String) -> Bool? {
        if !availability.isEmpty, text.utf8.count <= 200, let known = availability[Availability.key(text)] {
            return known
        }
        return Availability.parse(text)
    }
}

/// Checks for ids that a spreadsheet has rounded.
package enum SKUText {
    static let roundedReason = """
        is a number in scientific notation, as spreadsheets write long numbers, so its last digits are lost; format the \
        column as text
        """

    /// Whether an id is a number in scientific notation, such as `4.00633E+12`.
    static func isRounded(_ text: String) -> Bool {
        // Almost no id has this sign.
        guard text.utf8.contains(UInt8(ascii: "+")) else { return false }
        let parts = text.uppercased().split(separator: "E+", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[1].isEmpty, parts[1].allSatisfy(\.isASCIIDigit) else { return false }
        let digits = parts[0].split(whereSeparator: { $0 == "." || $0 == "," })
        return (1...2).contains(digits.count) && parts[0].count <= 17
            && digits.allSatisfy { $0.allSatisfy(\.isASCIIDigit) }
    }

    /// Whether an id may have been rounded: at least 12 digits, of which the last six are zeros.
    package static func isSuspicious(_ text: String) -> Bool {
        text.utf8.count >= 12 && text.hasSuffix("000000") && text.allSatisfy(\.isASCIIDigit)
            && text.contains { $0 != "0" }
    }
}
