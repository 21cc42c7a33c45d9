internal import Catalog

/// Where the texts of a row are: the columns of the file that an import reads.
///
/// It is a class, because it is passed along with each row.
final class ResolvedColumns: Sendable {
    /// Where the texts of one column of the import are.
    final class Source: Sendable {
        /// The indexes of columns of the file, as in `ColumnSource.alternatives`.
        let alternatives: [[Int]]
        let ignored: Set<String>
        let constant: String?
        let part: ColumnSource.Part?
        let lineBreak: String?
        /// The columns count only in rows that meet these.
        let conditions: [Condition]
        /// The only column, if its text is taken as it is; nil otherwise.
        let plainColumn: Int?

        init(_ source: ColumnSource, _ alternatives: [[Int]], _ conditions: [Condition]) {
            self.alternatives = alternatives
            self.conditions = conditions
            ignored = Set(source.ignored.map { $0.lowercased() })
            constant = source.constant
            part = source.part
            lineBreak = source.lineBreak
            let isPlain =
                alternatives.count == 1 && alternatives[0].count == 1 && conditions.isEmpty && ignored.isEmpty
                && part == nil && lineBreak == nil
            plainColumn = isPlain ? alternatives[0][0] : nil
        }

        /// Whether a text of the source is the whole text of one column.
        var hasWholeTexts: Bool {
            alternatives.allSatisfy { $0.count == 1 } && (part?.isAll ?? true) && lineBreak == nil
        }

        var isEmpty: Bool { alternatives.isEmpty && constant == nil }

        /// All columns of the file that the source reads.
        var indexes: [Int] { alternatives.flatMap(\.self) + conditions.flatMap(\.columns) }
    }

    /// A condition of the rows that are products; without columns it holds.
    struct Condition: Sendable {
        let columns: [Int]
        let condition: RowCondition
    }

    /// Where the texts of one attribute are.
    struct Attribute: Sendable {
        let name: String
        let source: Source
        /// Whether the column was found by its title. Then it counts only in stores that declare the attribute.
        var isFoundByTitle = false
        /// Whether the title is `attributes.NAME`, which no other column has.
        var isExplicit = false
    }

    let columns: [ImportColumn: Source]
    /// The same by the columns' numbers.
    private let sources: [Source?]
    /// The attributes, at the same places for all rows of a file.
    let attributes: [Attribute]
    /// Whether the file has a header; otherwise, its rows name their columns.
    let hasHeader: Bool

    init(
        _ columns: [ImportColumn: Source] = [:],
        _ attributes: [Attribute] = [],
        hasHeader: Bool = true
    ) {
        self.columns = columns
        sources = ImportColumn.allCases.map { columns[$0] }
        self.attributes = attributes
        self.hasHeader = hasHeader
    }

    /// Whether prices of products are read from columns.
    var hasPrices: Bool { columns[.price] != nil || columns[.promoPrice] != nil }

    /// Whether sizes of products are read from a column.
    var hasSizes: Bool { columns[.size] != nil }

    /// Whether a column has all attributes of a product.
    var hasAllAttributes: Bool { columns[.attributes] != nil }

    /// Whether the file has attributes of its own.
    var hasAttributes: Bool { !attributes.isEmpty }

    /// Returns the text of a column of the import; nil if the row has none.
    ///
    /// - Parameter cell: the text of a column of the file.
    func text(_ column: ImportColumn, _ cell: (Int) -> String?) -> String? {
        guard let source = sources[column.rawValue] else { return nil }
        return Self.text(source, cell)
    }

    /// Calls a closure with the attributes that a row has, and their places.
    func forEachAttribute(
        _ cell: (Int) -> String?,
        _ body: (_ place: Int, _ attribute: Attribute, _ text: String) throws(ImportRejection) -> Void
    ) throws(ImportRejection) {
        for (place, attribute) in attributes.enumerated() {
            if let text = Self.text(attribute.source, cell) { try body(place, attribute, text) }
        }
    }

    private static func text(_ source: Source, _ cell: (Int) -> String?) -> String? {
        if let column = source.plainColumn {
            guard let text = cell(column), !isBlank(text) else { return source.constant }
            return text
        }
        for condition in source.conditions
        where !condition.condition.holds(for: first(condition.columns, cell)?.text ?? "") {
            return source.constant
        }
        guard var text = whole(source, cell) else { return source.constant }
        if let lineBreak = source.lineBreak { text = ColumnSource.unescaped(text, lineBreak: lineBreak) }
        guard let part = source.part else { return text }
        let one = part.text(text)
        return one.isEmpty ? source.constant : one
    }

    /// Returns the first column with a text, and the text; nil if all are blank.
    static func first(_ columns: [Int], _ cell: (Int) -> String?) -> (column: Int, text: String)? {
        for column in columns {
            if let text = cell(column)?.trimmed, !text.isEmpty { return (column, text) }
        }
        return nil
    }

    private static func whole(_ source: Source, _ cell: (Int) -> String?) -> String? {
        for alternative in source.alternatives {
            if alternative.count == 1 {
                if let text = cell(alternative[0]), !isIgnored(text, source) { return text }
            } else if let first = alternative.first, let text = cell(first), !isIgnored(text, source) {
                let texts = alternative.compactMap { index in
                    cell(index).flatMap { isIgnored($0, source) ? nil : $0.trimmed }
                }
                return texts.joined(separator: " ")
            }
        }
        return nil
    }

    private static func isBlank(_ text: String) -> Bool {
        // Most texts begin with a visible character of ASCII.
        if let first = text.utf8.first, (0x21..<0x7F).contains(first) { return false }
        return text.allSatisfy(\.isWhitespace)
    }

    private static func isIgnored(_ text: String, _ source: Source) -> Bool {
        if source.ignored.isEmpty { return isBlank(text) }
        let trimmed = text.trimmed
        return trimmed.isEmpty || source.ignored.contains(trimmed.lowercased())
    }
}
