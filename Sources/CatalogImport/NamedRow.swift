package import Catalog
package import JSON

/// A row of named fields, from a file or a JSON body.
package struct NamedRow: Sendable, Hashable {
    /// The line in a file, from 1, or the element's index in a body.
    package let line: Int
    private var fields: [String: String] = [:]
    /// The decimal mark of the prices, as the file shows it.
    private var decimals = DecimalEvidence()
    /// The fields that are numbers of JSON.
    private var numbers: Set<String> = []

    /// The raw row; nil if it is not kept.
    var raw: RawRow?

    /// A row as the file writes it, and the header of the file.
    struct RawRow: Sendable, Hashable {
        let row: String
        var header: String?
        var separator: FieldSeparator?
    }

    package init(line: Int, _ fields: [String: String], decimals: DecimalEvidence = DecimalEvidence()) {
        self.line = line
        self.fields = fields
        self.decimals = decimals
    }

    /// Reads the members of a JSON object; null means an empty field.
    ///
    /// - Parameter numbers: the members that must be numbers, while all others must be strings; nil accepts both.
    /// - Throws: the rejection of an invalid row.
    package init(
        line: Int,
        _ value: JSONValue,
        columns: [String],
        numbers wanted: Set<String>? = nil,
        decimals: DecimalEvidence = DecimalEvidence()
    ) throws(ImportRejection) {
        self.line = line
        self.decimals = decimals
        guard case .object(let members) = value else {
            throw ImportRejection(line: line, reason: "is not a JSON object")
        }
        for member in members {
            guard columns.contains(member.name) else {
                throw ImportRejection(
                    line: line,
                    column: member.name,
                    reason: "is an unknown property; allowed are \(columns.joined(separator: ", "))"
                )
            }
            switch member.value {
            case .null: fields[member.name] = ""
            case .string(let text) where wanted?.contains(member.name) != true: fields[member.name] = text
            case .number(let digits) where wanted?.contains(member.name) != false:
                fields[member.name] = ExactDecimal.plain(jsonNumber: digits)
                numbers.insert(member.name)
            case .string, .number:
                let kind = wanted!.contains(member.name) ? "a number" : "a string"
                throw ImportRejection(line: line, column: member.name, reason: "must be \(kind)")
            case .bool, .array, .object:
                throw ImportRejection(line: line, column: member.name, reason: "must be a string or a number")
            }
        }
    }

    package func has(_ column: String) -> Bool { fields[column] != nil }

    /// Returns the trimmed field; nil if it is empty.
    package func text(_ column: String) -> String? {
        guard let text = fields[column]?.trimmed, !text.isEmpty else { return nil }
        return text
    }

    /// Returns the text of a column.
    ///
    /// - Throws: `ImportRejection` if it is empty.
    package func required(_ column: String) throws(ImportRejection) -> String {
        guard let text = text(column) else { throw reject(column, "is missing") }
        return text
    }

    /// Returns the rejection of the row for a column, with the column's text.
    package func reject(_ column: String, _ reason: String) -> ImportRejection {
        var rejection = ImportRejection(line: line, column: column, value: text(column), reason: reason)
        rejection.keep(raw)
        return rejection
    }

    /// Returns the amount of a column.
    ///
    /// - Throws: `ImportRejection` if it is empty or not a certain amount.
    package func price(_ column: String, in currency: Currency) throws(ImportRejection) -> ExactDecimal {
        let text = try required(column)
        let decimals = numbers.contains(column) ? DecimalEvidence(.point) : decimals
        do throws(DecimalEvidence.Fault) { return try decimals.amount(text, in: currency) } catch {
            throw reject(column, error.reason)
        }
    }

    package func sku() throws(ImportRejection) -> SKU {
        let text = try required("sku")
        if SKUText.isRounded(text) { throw reject("sku", SKUText.roundedReason) }
        guard let sku = SKU(text.composed) else { throw reject("sku", "must be \(SKU.rule)") }
        return sku
    }
}

extension ImportRejection {
    /// Adds the raw row; nil if it is not kept.
    mutating func keep(_ raw: NamedRow.RawRow?) {
        keep(row: raw?.row, header: raw?.header, separator: raw?.separator)
    }
}

extension [JSONValue] {
    /// Reads the elements of a body's array as rows; the first invalid one rejects the whole body.
    package func rows<Row>(
        limit: Int,
        columns: [String],
        numbers: Set<String>,
        _ read: (NamedRow) throws(ImportRejection) -> Row
    ) throws(CatalogError) -> [Row] {
        guard count <= limit else { throw .tooLarge("the body has \(count) elements; the maximum is \(limit)") }
        var rows: [Row] = []
        rows.reserveCapacity(count)
        for (index, value) in enumerated() {
            if case .object(let members) = value, let member = members.first(where: { !columns.contains($0.name) }) {
                let field = "[\(index)].\(member.name.prefix(64))"
                throw .malformed(parameter: field, detail: "unknown property “\(field)”", allowed: columns)
            }
            do throws(ImportRejection) {
                rows.append(try read(NamedRow(line: index, value, columns: columns, numbers: numbers)))
            } catch {
                let field = "[\(index)]" + (error.column.map { ".\($0)" } ?? "")
                let shown = error.value.map { "“\($0)” " } ?? ""
                throw .unprocessable(field: field, detail: "\(field): \(shown)\(error.reason)")
            }
        }
        return rows
    }
}
