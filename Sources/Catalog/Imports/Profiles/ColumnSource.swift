/// Where an import finds the texts of one of its columns.
package struct ColumnSource: Sendable, Hashable {
    /// The columns of the file: the first alternative with a text counts. An alternative of several columns is their texts,
    /// joined by a space; it counts only if the first of them has a text.
    package var alternatives: [[ColumnTitle]]
    /// Texts that count as none, such as `Default Title`; their case is ignored.
    package var ignored: [String]
    /// Which of several texts count; nil for the text of the cell, or the first element.
    package var part: Part?
    /// The characters that mean a line break in a text, unless a backslash precedes them; nil for none.
    package var lineBreak: String?
    /// The columns count only in rows that meet all of these.
    package var conditions: [RowCondition]
    /// The text of rows without any.
    package var constant: String?
    /// Whether a file without the columns is an error.
    package var isRequired: Bool

    package init(
        _ alternatives: [[ColumnTitle]],
        ignoring ignored: [String] = [],
        when conditions: [RowCondition] = [],
        constant: String? = nil,
        isRequired: Bool = false
    ) {
        self.alternatives = alternatives
        self.ignored = ignored
        self.conditions = conditions
        self.constant = constant
        self.isRequired = isRequired
    }

    /// Creates the source of a column that the file must have.
    package init(_ title: String) { self.init([[ColumnTitle(title)]], isRequired: true) }

    /// All titles of columns.
    package var titles: [ColumnTitle] { alternatives.flatMap(\.self) + conditions.flatMap(\.columns) }

    /// The texts that count.
    package enum Part: Sendable, Hashable {
        /// The text before the first separator, or after the last one.
        case first(of: String)
        case last(of: String)
        /// All texts of an element of XML that occurs several times, with a separator between them.
        case all(String)

        package func text(_ text: String) -> String {
            switch self {
            case .first(let separator): Self.parts(text, separator).first ?? ""
            case .last(let separator): Self.parts(text, separator).last ?? ""
            case .all: text
            }
        }

        private static func parts(_ text: String, _ separator: String) -> [String] {
            text.split(separator: separator).map { String($0).trimmed }.filter { !$0.isEmpty }
        }

        package var isAll: Bool { if case .all = self { true } else { false } }
    }

    /// Returns a text with line breaks in place of the characters that mean them.
    package static func unescaped(_ text: String, lineBreak: String) -> String {
        guard text.contains(lineBreak) else { return text }
        return text.split(separator: "\\" + lineBreak, omittingEmptySubsequences: false).map {
            $0.replacing(lineBreak, with: "\n")
        }.joined(separator: lineBreak)
    }

    /// The maximum numbers of alternatives, and of columns in one.
    package static let (alternativeLimit, joinLimit) = (20, 8)
}

/// A condition of a row.
package struct RowCondition: Sendable, Hashable {
    /// The first column with a text counts.
    package var columns: [ColumnTitle]
    /// The accepted texts, whose case is ignored: an empty text for an empty cell, and `*` for any text. A text that ends in
    /// `*` accepts every cell with this beginning.
    package let accepted: Set<String>
    private let prefixes: [String]

    package init(_ columns: [ColumnTitle], _ accepted: Set<String>) {
        self.columns = columns
        self.accepted = Set(accepted.map { $0.lowercased() })
        prefixes = self.accepted.filter { $0.hasSuffix("*") }.map { String($0.dropLast()) }.sorted()
    }

    package func holds(for text: String) -> Bool {
        if text.isEmpty { return accepted.contains("") }
        let text = text.lowercased()
        return accepted.contains(text) || prefixes.contains { text.hasPrefix($0) }
    }
}

/// The title of a column in a file.
///
/// Titles are compared without case and accents; spaces, underscores and line breaks are equal. A title that ends in `*` matches
/// every title with this beginning.
package struct ColumnTitle: Sendable, Hashable, ExpressibleByStringLiteral {
    package let text: String
    /// The title as it is compared; without the `*` of a prefix.
    package let key: String
    /// Whether all titles that begin like this one match.
    package let isPrefix: Bool

    /// The maximum length in bytes.
    package static let byteLimit = 200

    package init(_ text: String) {
        self.text = text
        isPrefix = text.utf8.count > 1 && text.hasSuffix("*")
        key = Self.key(isPrefix ? String(text.dropLast()) : text)
    }

    package init(stringLiteral text: String) { self.init(text) }

    /// Whether a title of a file, in the form in which titles are compared, is this one.
    package func matches(key other: String) -> Bool { isPrefix ? other.hasPrefix(key) : other == key }

    /// Returns a title in the form in which titles are compared.
    package static func key(_ title: String) -> String {
        ImportLanguage.folded(title).split { $0.isWhitespace || $0 == "_" }.joined(separator: " ")
    }
}

/// The columns of the file for the columns of an import, and for attributes of products.
package struct ImportMapping: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    package var columns: [ImportColumn: ColumnSource] = [:]
    /// The sources of attributes, by their names.
    package var attributes: [String: ColumnSource] = [:]

    package init() {}

    package init(dictionaryLiteral elements: (ImportColumn, String)...) {
        columns = Dictionary(elements.map { ($0.0, ColumnSource($0.1)) }, uniquingKeysWith: { $1 })
    }

    /// Returns where the texts of a column are: by default, in the column of its name.
    package func source(of column: ImportColumn) -> ColumnSource {
        columns[column] ?? ColumnSource([[ColumnTitle(column.columnName)]])
    }

    /// Returns the constant text of a column; nil if it has none.
    package func constant(_ column: ImportColumn) -> String? { columns[column]?.constant }

    /// Sets the text of rows without a text in a column.
    package mutating func set(_ column: ImportColumn, constant: String) {
        var source = source(of: column)
        source.constant = constant
        columns[column] = source
    }

    /// The maximum number of attributes.
    package static let attributeLimit = 64

    /// Whether an attribute can have a name: a lower-case letter, then up to 31 letters, digits and underscores.
    package static func isAttributeName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count) && ("a"..."z").contains(text.first ?? "0")
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "_")
            }
    }
    package static let attributeNameRule =
        "a lower-case letter, then up to 31 lower-case letters, digits and underscores"
}
