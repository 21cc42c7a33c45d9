package import Catalog

/// A row of named fields, of a file or a JSON body.
package struct FieldRow: Sendable, Hashable {
    /// Of a file, from 1; of a body, the element's index.
    package let line: Int
    private var fields: [String: String] = [:]

    package init(line: Int, _ fields: [String: String]) {
        self.line = line
        self.fields = fields
    }

    /// Reads the members of a JSON object; null stands for an empty field.
    ///
    /// - Parameter numbers: the members that must be numbers, where the others must be texts; nil takes either.
    /// - Throws: what is wrong about the row.
    package init(
        line: Int,
        _ value: JSONValue,
        columns: [String],
        numbers: Set<String>? = nil
    ) throws(ImportRejection) {
        self.line = line
        guard case .object(let members) = value else {
            throw ImportRejection(line: line, reason: "is no JSON object")
        }
        for member in members {
            guard columns.contains(member.name) else {
                throw ImportRejection(
                    line: line,
                    column: member.name,
                    reason: "is no field here; there are \(columns.joined(separator: ", "))"
                )
            }
            switch member.value {
            case .null: fields[member.name] = ""
            case .string(let text) where numbers?.contains(member.name) != true: fields[member.name] = text
            case .number(let digits) where numbers?.contains(member.name) != false: fields[member.name] = digits
            case .string, .number:
                let wanted = numbers!.contains(member.name) ? "a number" : "a text"
                throw ImportRejection(line: line, column: member.name, reason: "must be \(wanted)")
            case .bool, .array, .object:
                throw ImportRejection(line: line, column: member.name, reason: "must be a text or a number")
            }
        }
    }

    package func has(_ column: String) -> Bool { fields[column] != nil }

    /// The field without space around it; nil where there is nothing in it.
    package func text(_ column: String) -> String? {
        guard let text = fields[column]?.trimmed, !text.isEmpty else { return nil }
        return text
    }

    package func needed(_ column: String) throws(ImportRejection) -> String {
        guard let text = text(column) else { throw ImportRejection(line: line, column: column, reason: "is missing") }
        return text
    }

    package func reject(_ column: String, _ reason: String) -> ImportRejection {
        ImportRejection(line: line, column: column, value: text(column), reason: reason)
    }

    package func sku() throws(ImportRejection) -> SKU {
        guard let sku = SKU(try needed("sku").composed) else { throw reject("sku", "is no sku") }
        return sku
    }
}

extension [JSONValue] {
    /// The elements of a body's array as rows; the first that is wrong refuses them all.
    func rows<Row>(
        limit: Int,
        columns: [String],
        numbers: Set<String>,
        _ read: (FieldRow) throws(ImportRejection) -> Row
    ) throws(CatalogError) -> [Row] {
        guard count <= limit else { throw .tooLarge("\(count) at once; the most is \(limit)") }
        var rows: [Row] = []
        rows.reserveCapacity(count)
        for (index, value) in enumerated() {
            if case .object(let members) = value, let member = members.first(where: { !columns.contains($0.name) }) {
                let field = "[\(index)].\(member.name.prefix(64))"
                throw .malformed(parameter: field, detail: "no such field: \(field)", allowed: columns)
            }
            do throws(ImportRejection) {
                rows.append(try read(FieldRow(line: index, value, columns: columns, numbers: numbers)))
            } catch {
                let field = "[\(index)]" + (error.column.map { ".\($0)" } ?? "")
                let shown = error.value.map { "“\($0)” " } ?? ""
                throw .unprocessable(field: field, detail: "\(field): \(shown)\(error.reason)")
            }
        }
        return rows
    }
}
