internal import Catalog
internal import JSON

extension ImportRecordReader {
    /// Returns the attributes of a row as an object of JSON; nil if the file has none.
    ///
    /// A cell of an attribute takes precedence over the object of all attributes. Attributes that exceed the limit of a product are left out,
    /// and counted.
    func readAttributes(
        _ row: ValueReader,
        _ record: inout ImportRecord,
        _ columns: ResolvedColumns,
        _ known: inout KnownCells,
        _ cell: (Int) -> String?
    ) throws(ImportRejection) -> String? {
        var members: [JSONValue.Member] = []
        if columns.hasAllAttributes {
            let text = columns.text(.attributes, cell)
            // A row that does not name the column keeps the stored attributes.
            guard text != nil || columns.hasHeader || columns.hasAttributes else { return nil }
            record.keepsOtherAttributes = text == nil && !columns.hasHeader
            members = record.readOptional([]) { () throws(ImportRejection) -> [JSONValue.Member] in
                try row.attributes(text)
            }
        }
        guard columns.hasAllAttributes || columns.hasAttributes else { return nil }
        // A later row may have the object of all attributes.
        if !columns.hasAllAttributes { record.keepsOtherAttributes = !columns.hasHeader }
        let declarations = declared.number(of: record.store)
        var values: [KnownCells.Value] = []
        values.reserveCapacity(columns.attributes.count)
        try columns.forEachAttribute(cell) { place, attribute, text throws(ImportRejection) in
            let kind = row.forms.kind(of: attribute.name, text)
            let key = KnownCells.Cell(text: text, kind: kind, declarationsID: declarations)
            let reading = known.reading(of: key, at: place) {
                read(text, attribute, declared.definitions(in: record.store)[attribute.name], row.forms)
            }
            switch reading {
            case .empty: return
            case .undeclared:
                if attribute.isExplicit, columns.hasAllAttributes {
                    throw ImportRejection(
                        line: row.line,
                        column: AttributeCells.title(of: attribute.name),
                        value: text,
                        reason:
                            "would be lost, because store “\(record.store)” does not declare the attribute; declare it first"
                    )
                }
                return record.undeclaredAttributes.append(attribute.name)
            case .value(let value):
                if value.wasRounded { record.roundedDecimals += 1 }
                values.append(value)
            case .fault(let fault, let isDeclared):
                let rejection = ImportRejection(
                    line: row.line,
                    column: attribute.name,
                    value: fault == .controlCharacter ? nil : text,
                    reason: fault.reason
                )
                if isDeclared {
                    record.unreadableAttributes[attribute.name] = rejection
                } else {
                    record.emptied.append(rejection)
                }
            }
            if !members.isEmpty { members.removeAll { $0.name == attribute.name } }
        }
        if !members.isEmpty { noteMistyped(members, row.line, &record) }
        return add(values, to: members, row.line, &record)
    }

    /// Returns what the cell of an attribute states: a value of the declared type, or a text if the attribute is mapped and not declared.
    private func read(
        _ text: String,
        _ attribute: ResolvedColumns.Attribute,
        _ definition: AttributeDefinition?,
        _ forms: FieldForms
    ) -> KnownCells.Reading {
        guard definition != nil || !attribute.isFoundByTitle else {
            return AttributeCells.isEmpty(text) ? .empty : .undeclared
        }
        do throws(AttributeCells.Fault) {
            guard let value = try value(of: text, attribute, definition, forms) else { return .empty }
            return .value(KnownCells.Value(attribute.name, value))
        } catch { return .fault(error, isDeclared: definition != nil) }
    }

    /// - Returns: nil for an empty cell.
    /// - Throws: `Fault` for a cell that cannot be read. The attribute is unknown then, because the stored value may be wrong.
    private func value(
        of text: String,
        _ attribute: ResolvedColumns.Attribute,
        _ definition: AttributeDefinition?,
        _ forms: FieldForms
    ) throws(AttributeCells.Fault) -> AttributeCells.Value? {
        let json = forms.value(ofCell: text)
        if let definition {
            let cells = forms.cells(of: attribute, words)
            return if let json { try cells.value(json, of: definition) } else { try cells.value(text, of: definition) }
        }
        guard json == nil else { throw AttributeCells.Fault(reason: "must be a string or a number") }
        guard !AttributeCells.isEmpty(text) else { return nil }
        let value = text.isPrintable ? text.trimmed : text.spaced.trimmed
        guard value.isPrintable else { throw .controlCharacter }
        return AttributeCells.Value(json: .string(value))
    }

    /// Notes the values of another type than declared that the object of all attributes has.
    private func noteMistyped(_ members: [JSONValue.Member], _ line: Int, _ record: inout ImportRecord) {
        let definitions = declared.definitions(in: record.store)
        for member in members {
            guard let definition = definitions[member.name] else { continue }
            do { _ = try definition.value(member.value) } catch {
                record.mistypedAttributes[member.name] = ImportRejection(
                    line: line,
                    column: member.name,
                    value: member.value.text,
                    reason: "must be \(error.expected)"
                )
            }
        }
    }

    /// Returns an object with the members of another one, and as many of the values of cells as a product can have.
    private func add(
        _ values: [KnownCells.Value],
        to members: [JSONValue.Member],
        _ line: Int,
        _ record: inout ImportRecord
    ) -> String {
        var json = JSONWriter(reserving: values.reduce(512) { $0 + $1.member.utf8.count })
        // The braces, without the comma of the first member.
        var size = 1
        json.object { json in
            for member in members.lazy.map(\.text) {
                size += member.utf8.count + 1
                json.raw(member)
            }
            for value in values {
                guard size + value.member.utf8.count + 1 <= Product.attributesLimit else {
                    record.emptied.append(
                        ImportRejection(
                            line: line,
                            column: value.name,
                            value: value.text,
                            reason: "attributes of a product have at most \(Product.attributesLimit) bytes"
                        )
                    )
                    continue
                }
                size += value.member.utf8.count + 1
                json.raw(value.member)
            }
        }
        return json.text
    }
}
