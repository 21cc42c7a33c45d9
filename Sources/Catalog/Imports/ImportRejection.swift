/// A row that is not taken, and why.
package struct ImportRejection: Sendable, Hashable, Error {
    package let line: Int
    /// The file's own name of the column; nil where the whole row is wrong.
    package let column: String?
    package let value: String?
    package let reason: String
    /// The row as the file has it; nil where it was not asked for, or too long to keep.
    package var row: String?

    package init(line: Int, column: String? = nil, value: String? = nil, reason: String) {
        self.line = line
        self.column = column.map { Self.cut($0, 100) }
        self.value = value.map { Self.cut($0, 200) }
        self.reason = reason
    }

    /// The first bytes of a text, whole characters of Unicode only: one grapheme may be a megabyte.
    private static func cut(_ text: String, _ limit: Int) -> String {
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
