package import Catalog

/// A row of a file of rejected rows, which can be corrected and imported again.
///
/// It has the columns of the original file, and columns with the reasons, which imports ignore.
package enum RejectedRow {
    /// The columns with the reasons.
    package static let columns = ["rejected_line", "rejected_column", "rejected_value", "rejected_reason"]

    /// Returns the header of a CSV file of rejected rows, with blank lines above it if the options set its line.
    package static func header(_ header: String, _ separator: FieldSeparator, line: Int?) -> String {
        let mark = String(Unicode.Scalar(separator.byte))
        return String(repeating: "\n", count: (line ?? 1) - 1) + (columns + [header]).joined(separator: mark) + "\n"
    }

    /// Returns the line of a rejected row.
    package static func line(_ rejection: ImportRejection, _ format: ImportOptions.Format, _ separator: FieldSeparator)
        -> String
    {
        switch format {
        case .csv:
            let reasons = [
                String(rejection.line), rejection.column ?? "", rejection.value ?? "", rejection.reason,
            ].map { CSVReader.field($0, separator) }
            return (reasons + [rejection.row ?? ""]).joined(separator: String(Unicode.Scalar(separator.byte))) + "\n"
        case .ndjson:
            let row = (rejection.row ?? "").replacing("\n", with: " ").trimmed
            guard row.hasPrefix("{") else { return row + "\n" }
            let reasons = JSONWriter.object { json in
                json.field("rejected_line", rejection.line)
                json.field("rejected_column", rejection.column)
                json.field("rejected_value", rejection.value)
                json.field("rejected_reason", rejection.reason)
            }
            let rest = row.dropFirst().drop(while: \.isWhitespace)
            let start = String(decoding: reasons.dropLast(), as: UTF8.self)
            return start + (rest.hasPrefix("}") ? "" : ",") + rest + "\n"
        }
    }

    /// Returns an object without the reasons.
    static func removingReasons(_ value: JSONValue) -> JSONValue {
        guard case .object(let members) = value, members.contains(where: { columns.contains($0.name) }) else {
            return value
        }
        return .object(members.filter { !columns.contains($0.name) })
    }
}
