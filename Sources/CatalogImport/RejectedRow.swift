internal import JSON
package import Catalog

/// A row of a file of rejected rows, which can be corrected and imported again.
///
/// It has the columns of the original file, and columns with the reasons, which imports ignore.
package enum RejectedRow {
    /// The columns with the reasons.
    package static let columns = [
        "rejected_line", "rejected_column", "rejected_value", "rejected_reason", variantColumn,
    ]
    /// The column of rows of variants that have the texts of their product, and need no other row.
    static let variantColumn = "rejected_variant"
    static let complete = "complete"

    /// Returns the header of a CSV file of rejected rows, with blank lines above it if the options set its line.
    ///
    /// - Parameters:
    ///   - line: the line of the header in the original file, if the options set it.
    ///   - hasVariants: whether rows may be those of variants.
    package static func header(
        _ header: String,
        _ separator: FieldSeparator,
        line: Int?,
        hasVariants: Bool = false
    ) -> String {
        let mark = String(Unicode.Scalar(separator.byte))
        let columns = hasVariants ? columns : columns.dropLast()
        return String(repeating: "\n", count: (line ?? 1) - 1) + (columns + [header]).joined(separator: mark) + "\n"
    }

    /// Returns the line of a rejected row.
    ///
    /// - Parameters:
    ///   - isQuoted: whether the file has quotes around fields.
    ///   - hasVariants: whether rows may be those of variants.
    package static func line(
        _ rejection: ImportRejection,
        _ format: ImportOptions.Format,
        _ separator: FieldSeparator,
        isQuoted: Bool = true,
        hasVariants: Bool = false
    ) -> String {
        let variant = rejection.isCompleteVariant ? complete : ""
        switch format {
        case .csv:
            let reasons =
                ([
                    String(rejection.line), rejection.column ?? "", rejection.value ?? "", rejection.reason,
                ] + (hasVariants ? [variant] : [])).map {
                    isQuoted ? CSVReader.field($0, separator) : CSVReader.unquotedField($0, separator)
                }
            return (reasons + [rejection.row ?? ""]).joined(separator: String(Unicode.Scalar(separator.byte))) + "\n"
        case .xml:
            let row = rejection.row ?? "<item></item>"
            let start = row.firstIndex(of: ">") ?? row.index(before: row.endIndex)
            let reasons = [
                ("rejected_line", String(rejection.line)), ("rejected_column", rejection.column ?? ""),
                ("rejected_value", rejection.value ?? ""), ("rejected_reason", rejection.reason),
                (variantColumn, variant),
            ]
            var record = FieldRecord(line: rejection.line)
            for (name, text) in reasons where !text.isEmpty { record.add(name, text) }
            let rest = row[row.index(after: start)...]
            return row[...start] + record.content + rest + "\n"
        case .ndjson:
            let row = (rejection.row ?? "").replacing("\n", with: " ").trimmed
            guard row.hasPrefix("{") else { return row + "\n" }
            let reasons = JSONWriter.object { json in
                json.field("rejected_line", rejection.line)
                json.field("rejected_column", rejection.column)
                json.field("rejected_value", rejection.value)
                json.field("rejected_reason", rejection.reason)
                if rejection.isCompleteVariant { json.field(name: variantColumn, variant) }
            }
            let rest = row.dropFirst().drop(while: \.isWhitespace)
            let start = String(decoding: reasons.dropLast(), as: UTF8.self)
            return start + (rest.hasPrefix("}") ? "" : ",") + rest + "\n"
        }
    }

    /// Returns a line of NDJSON with values of members that are missing or blank.
    ///
    /// - Parameter replaced: the member whose own value does not count if there is a text for it.
    static func row(
        _ bytes: [UInt8],
        filling texts: [(name: String, text: String)],
        replacing replaced: String? = nil
    ) -> String {
        guard !texts.isEmpty, case .object(let old)? = try? JSONReader.parse(bytes) else {
            return String(decoding: bytes, as: UTF8.self)
        }
        let own = old.filter { member in
            if replaces(member.name, replaced, texts) { return false }
            if case .string(let text) = member.value { return !text.trimmed.isEmpty }
            return member.value != .null
        }
        let missing = missing(texts, in: own.map(\.name))
        return JSONValue.object(own + missing.map { JSONValue.Member($0.name, .string($0.text)) }).text
    }

    /// Whether a field is the one to be replaced, and there is a text for it.
    static func replaces(_ name: String, _ replaced: String?, _ texts: [(name: String, text: String)]) -> Bool {
        guard let replaced, ColumnTitle.key(name) == ColumnTitle.key(replaced) else { return false }
        return texts.contains { $0.name == replaced }
    }

    /// Returns the texts whose names a row lacks.
    static func missing(
        _ texts: [(name: String, text: String)],
        in names: [String]
    ) -> [(name: String, text: String)] {
        let keys = Set(names.map(ColumnTitle.key))
        return texts.filter { !keys.contains(ColumnTitle.key($0.name)) }
    }

    /// Whether an object is the row of a variant with the texts of its product.
    static func isCompleteVariant(_ value: JSONValue) -> Bool {
        guard case .object(let members) = value else { return false }
        return members.contains { $0.name == variantColumn && $0.value == .string(complete) }
    }

    /// The texts before and after the rows of a file of XML.
    package static let xmlFrame = ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rejected>\n", "</rejected>\n")

    /// Returns an object without the reasons.
    static func removingReasons(_ value: JSONValue) -> JSONValue {
        guard case .object(let members) = value, members.contains(where: { columns.contains($0.name) }) else {
            return value
        }
        return .object(members.filter { !columns.contains($0.name) })
    }
}
