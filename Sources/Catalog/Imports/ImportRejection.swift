/// A rejected row and the reason.
package struct ImportRejection: Sendable, Hashable, Error {
    package let line: Int
    /// The file's name for the column; nil if the whole row is invalid.
    package let column: String?
    package let value: String?
    package var reason: String
    /// The raw row; nil if it was not requested or is too long to keep.
    package var row: String?
    /// The header of the raw row; nil if it has none.
    package var header: String?
    /// The separator of both; nil for rows of NDJSON.
    package var separator: FieldSeparator?
    /// Whether the raw row is that of a variant, with the texts of its product.
    package var isCompleteVariant = false

    package init(line: Int, column: String? = nil, value: String? = nil, reason: String) {
        self.line = line
        self.column = column.map { Self.truncate($0, 100) }
        self.value = value.map { Self.truncate($0, 200) }
        self.reason = reason
    }

    /// Adds the raw row.
    package mutating func keep(row: String?, header: String? = nil, separator: FieldSeparator? = nil) {
        self.row = row
        self.header = header
        self.separator = separator
    }

    /// Truncates a text at a Unicode scalar, not at a grapheme: a single grapheme may be 1 MB long.
    private static func truncate(_ text: String, _ limit: Int) -> String {
        guard text.utf8.count > limit else { return text }
        var scalars = String.UnicodeScalarView()
        var length = 0
        for scalar in text.unicodeScalars {
            length += UTF8.width(scalar)
            if length > limit { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    package var description: String {
        let place = column.map { ", \($0)" } ?? ""
        let shown = value.map { " “\($0)”" } ?? ""
        return "line \(line)\(place):\(shown) \(reason)"
    }
}
