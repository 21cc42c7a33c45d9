package import JSON
package import Catalog

extension ImportProfile {
    /// Writes the profile as a document that can be parsed again.
    package func write(to json: inout JSONWriter) {
        json.object { json in
            if let title { json.field("title", title) }
            if let format { json.field("format", format.rawValue) }
            if let encoding = dialect.encoding { json.field("encoding", encoding.rawValue) }
            if let separator = dialect.separator { json.field("separator", separator.rawValue) }
            if !dialect.isQuoted { json.field("quotes", false) }
            if let mark = dialect.decimalMark { json.field("decimal_mark", mark.rawValue) }
            if let line = dialect.headerLine { json.field("header_line", line) }
            if recordNames != Self.defaultRecordNames { json.array("records", recordNames) { $0.string($1) } }
            let columns = ImportColumn.allCases.compactMap { column in
                mapping.columns[column].map { (name: column.columnName, source: $0) }
            }
            if !columns.isEmpty { json.sources("columns", columns) }
            if !mapping.attributes.isEmpty {
                json.sources(
                    "attributes",
                    mapping.attributes.sorted { $0.key < $1.key }.map { (name: $0.key, source: $0.value) }
                )
            }
            if !rows.isEmpty { json.conditions("rows", rows) }
            if let variants { json.object("variants") { variants.write(to: &$0) } }
            if words != Words() { json.object("words") { words.write(to: &$0) } }
            if let language { json.field("language", language) }
            if !separators.isEmpty {
                json.object("separators") { json in
                    for (column, text) in separators.sorted(by: { $0.key.columnName < $1.key.columnName }) {
                        json.field(name: column.columnName, text)
                    }
                }
            }
            if let shelfPathSeparator { json.field("shelf_path", shelfPathSeparator) }
            if let timeZone { json.field("time_zone", timeZone) }
            if let currency { json.field("currency", currency.code) }
            if pricesIncludeDeposit { json.field("price_includes_deposit", true) }
            if readsSizeFromName { json.field("size_from_name", true) }
        }
    }

    /// The document.
    package var document: [UInt8] { JSONWriter.document { write(to: &$0) } }
}

extension ImportProfile.VariantRows {
    fileprivate func write(to json: inout JSONWriter) {
        json.titles("column", reference)
        if !keys.isEmpty {
            json.object("keys") { json in
                for key in keys { json.field(name: key.column.text, key.prefix) }
            }
        }
        json.titles("inherit", columns)
    }
}

extension ImportProfile.Words {
    fileprivate func write(to json: inout JSONWriter) {
        if !available.isEmpty { json.array("available", available.sorted()) { $0.string($1) } }
        if !unavailable.isEmpty { json.array("unavailable", unavailable.sorted()) { $0.string($1) } }
        if !units.isEmpty {
            json.object("units") { json in
                for (word, unit) in units.sorted(by: { $0.key < $1.key }) { json.field(name: word, unit.rawValue) }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func sources(_ name: StaticString, _ sources: [(name: String, source: ColumnSource)]) {
        object(name) { json in
            for (name, source) in sources { json.source(name, source) }
        }
    }

    /// Writes a source; columns alone without an object.
    private mutating func source(_ name: String, _ source: ColumnSource) {
        if source.alternatives.isEmpty, source.constant == nil {
            key(name)
            return null()
        }
        if source.ignored.isEmpty, source.conditions.isEmpty, source.constant == nil, source.part == nil,
            source.lineBreak == nil
        {
            key(name)
            return alternatives(source.alternatives)
        }
        object(name: name) { json in
            if !source.alternatives.isEmpty {
                json.key("column")
                json.alternatives(source.alternatives)
            }
            if !source.ignored.isEmpty { json.array("ignored", source.ignored) { $0.string($1) } }
            switch source.part {
            case .first(let separator)?: json.field("first_of", separator)
            case .last(let separator)?: json.field("last_of", separator)
            case .all(let separator)?: json.field("all_of", separator)
            case nil: break
            }
            if let lineBreak = source.lineBreak { json.field("line_break", lineBreak) }
            if !source.conditions.isEmpty { json.conditions("when", source.conditions) }
            if let constant = source.constant { json.field("constant", constant) }
        }
    }

    private mutating func alternatives(_ alternatives: [[ColumnTitle]]) {
        if alternatives.count == 1, alternatives[0].count == 1 { return string(alternatives[0][0].text) }
        array(alternatives) { json, titles in
            if titles.count == 1 { json.string(titles[0].text) } else { json.array(titles) { $0.string($1.text) } }
        }
    }

    fileprivate mutating func conditions(_ name: StaticString, _ conditions: [RowCondition]) {
        array(name, conditions) { json, condition in
            json.object { json in
                json.titles("column", condition.columns)
                json.array("is", condition.accepted.sorted()) { $0.string($1) }
            }
        }
    }

    fileprivate mutating func titles(_ name: StaticString, _ titles: [ColumnTitle]) {
        if titles.count == 1 { return field(name, titles[0].text) }
        array(name, titles) { $0.string($1.text) }
    }
}
