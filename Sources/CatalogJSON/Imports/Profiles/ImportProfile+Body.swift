package import JSON
package import Catalog

extension ImportProfile {
    /// Parses a profile from a JSON document.
    ///
    /// - Throws: `malformed` for an unknown member, `unprocessable` for an invalid value.
    package init(body: JSONValue) throws(CatalogError) {
        self.init()
        var reader = try BodyReader(body)
        title = try reader.nonBlankString("title", bytes: Self.titleLimit)
        format = try reader.choice("format")
        dialect = FileDialect(
            encoding: try reader.choice("encoding"),
            separator: try reader.choice("separator"),
            decimalMark: try reader.choice("decimal_mark"),
            headerLine: try reader.integer("header_line").map(Self.headerLine)
        )
        dialect.isQuoted = try reader.bool("quotes") ?? true
        if let names = try reader.strings("records") { recordNames = try Self.recordNames(names) }
        for (name, value) in try reader.members("columns") {
            guard let column = ImportColumn(columnName: name) else {
                throw .malformed(
                    parameter: "columns.\(name.prefix(64))",
                    detail: "“\(name.prefix(64))” is not a column of imports",
                    allowed: ImportColumn.allCases.map(\.columnName)
                )
            }
            mapping.columns[column] = try ColumnSource("columns.\(name)", value)
        }
        for (name, value) in try reader.members("attributes") {
            guard ImportMapping.isAttributeName(name) else {
                throw .invalidProfile("attributes", "“\(name.prefix(64))” must be \(ImportMapping.attributeNameRule)")
            }
            mapping.attributes[name] = try ColumnSource("attributes.\(name)", value)
        }
        guard mapping.attributes.count <= ImportMapping.attributeLimit else {
            throw .invalidProfile("attributes", "must have at most \(ImportMapping.attributeLimit) members")
        }
        guard mapping.attributes.isEmpty || mapping.columns[.attributes] == nil else {
            throw .invalidProfile("attributes", "must be empty if a column has all attributes of a product")
        }
        rows = try reader.conditions("rows")
        if let value = reader.value("variants") { variants = try VariantRows(value) }
        if let value = reader.value("words") { words = try Words(value) }
        language = try reader.string("language", bytes: 16)
        guard language.map({ code in ImportLanguage.all.contains { $0.code == code && !code.isEmpty } }) ?? true else {
            let known = ImportLanguage.all.map(\.code).filter { !$0.isEmpty }
            throw .malformed(parameter: "language", detail: "the language is not known to imports", allowed: known)
        }
        try readSeparators(&reader)
        timeZone = try reader.nonBlankString("time_zone", bytes: 64)
        if let code = try reader.string("currency", bytes: 16) {
            guard let known = Currency(code) else {
                throw .invalidProfile("currency", "“\(code)” is not an ISO 4217 code")
            }
            currency = known
        }
        pricesIncludeDeposit = try reader.bool("price_includes_deposit") ?? false
        readsSizeFromName = try reader.bool("size_from_name") ?? false
        try reader.end()
    }

    /// Parses the text of a profile.
    ///
    /// - Throws: `unprocessable` for a text that is not JSON, or is too long.
    package init(document: [UInt8]) throws(CatalogError) {
        guard document.count <= Self.byteLimit else {
            throw .invalidProfile("profile", "must have at most \(Self.byteLimit) bytes")
        }
        let body: JSONValue
        do { body = try JSONReader.parse(document) } catch {
            throw .invalidProfile("profile", "is not JSON: \(error.detail) at byte \(error.offset)")
        }
        try self.init(body: body)
    }

    private static let titleLimit = 200

    private static func headerLine(_ line: Int64) throws(CatalogError) -> Int {
        let range = FileDialect.headerLineRange
        guard let line = Int(exactly: line), range.contains(line) else {
            throw .invalidProfile("header_line", "must be between \(range.lowerBound) and \(range.upperBound)")
        }
        return line
    }

    private static func recordNames(_ names: [String]) throws(CatalogError) -> [String] {
        guard (1...20).contains(names.count), names.allSatisfy({ (1...100).contains($0.utf8.count) }) else {
            throw .invalidProfile("records", "must have 1 to 20 names of elements")
        }
        return names
    }

    private mutating func readSeparators(_ reader: inout BodyReader) throws(CatalogError) {
        for (name, value) in try reader.members("separators") {
            let columns: [ImportColumn] = [.shelf, .tags, .imageURL]
            guard let column = columns.first(where: { $0.columnName == name }) else {
                throw .malformed(
                    parameter: "separators.\(name.prefix(64))",
                    detail: "only these columns can have several values",
                    allowed: columns.map(\.columnName)
                )
            }
            separators[column] = try Self.separator("separators.\(name)", value)
        }
        if let value = reader.value("shelf_path") { shelfPathSeparator = try Self.separator("shelf_path", value) }
        guard shelfPathSeparator == nil || shelfPathSeparator != separators[.shelf] else {
            throw .invalidProfile("shelf_path", "must differ from the separator of several shelves")
        }
    }

    fileprivate static func separator(_ field: String, _ value: JSONValue) throws(CatalogError) -> String {
        guard case .string(let text) = value, (1...8).contains(text.utf8.count), text.isPrintable,
            text.contains(where: { !$0.isLetter && !$0.isNumber && !$0.isWhitespace })
        else { throw .invalidProfile(field, "must be a text of 1 to 8 bytes with a mark, such as , or >") }
        return text
    }
}

extension ColumnSource {
    fileprivate init(_ field: String, _ value: JSONValue) throws(CatalogError) {
        // Not read, although the file has a column of this name.
        if value == .null {
            self.init([])
            return
        }
        guard case .object = value else {
            self.init(try Self.alternatives(field, value))
            return
        }
        var reader = try BodyReader(value)
        let columns = reader.value("column")
        let constant = try reader.nonBlankString("constant", bytes: 4096)
        let ignored = try reader.strings("ignored") ?? []
        let conditions = try reader.conditions("when")
        let (first, last, all) = (reader.value("first_of"), reader.value("last_of"), reader.value("all_of"))
        let lineBreak = try reader.nonBlankString("line_break", bytes: 8)
        try reader.end()
        guard columns != nil || constant != nil else {
            throw .invalidProfile(field, "must have column, constant, or both")
        }
        guard ignored.count <= 100, ignored.allSatisfy({ $0.utf8.count <= 200 }) else {
            throw .invalidProfile("\(field).ignored", "must have at most 100 texts of at most 200 bytes")
        }
        guard [first, last, all].count(where: { $0 != nil }) <= 1 else {
            throw .invalidProfile(field, "must have only one of first_of, last_of and all_of")
        }
        self.init(
            try columns.map { value throws(CatalogError) in try Self.alternatives(field, value) } ?? [],
            ignoring: ignored,
            when: conditions,
            constant: constant
        )
        if let first { part = .first(of: try ImportProfile.separator("\(field).first_of", first)) }
        if let all { part = .all(try ImportProfile.separator("\(field).all_of", all)) }
        if let last { part = .last(of: try ImportProfile.separator("\(field).last_of", last)) }
        self.lineBreak = lineBreak
    }

    private static func alternatives(_ field: String, _ value: JSONValue) throws(CatalogError) -> [[ColumnTitle]] {
        guard case .array(let values) = value else { return [[try ColumnTitle(field, value)]] }
        guard (1...alternativeLimit).contains(values.count) else {
            throw .invalidProfile(field, "must have 1 to \(alternativeLimit) alternatives")
        }
        return try values.map { value throws(CatalogError) in
            guard case .array(let joined) = value else { return [try ColumnTitle(field, value)] }
            guard (1...joinLimit).contains(joined.count) else {
                throw .invalidProfile(field, "must join 1 to \(joinLimit) columns")
            }
            return try joined.map { title throws(CatalogError) in try ColumnTitle(field, title) }
        }
    }
}

extension ColumnTitle {
    fileprivate init(_ field: String, _ value: JSONValue) throws(CatalogError) {
        guard case .string(let text) = value, (1...Self.byteLimit).contains(text.utf8.count), text.isPrintable,
            !Self.key(text).isEmpty
        else {
            throw .invalidProfile(
                field,
                "must be the title of a column, of 1 to \(Self.byteLimit) bytes, or an array of titles"
            )
        }
        self.init(text)
    }

    /// Parses the title of a column, or several alternatives.
    fileprivate static func list(_ field: String, _ value: JSONValue?) throws(CatalogError) -> [ColumnTitle] {
        let values: [JSONValue]
        switch value {
        case .array(let several)?: values = several
        case let one?: values = [one]
        case nil: throw .invalidProfile(field, "is required")
        }
        guard (1...100).contains(values.count) else { throw .invalidProfile(field, "must have 1 to 100 titles") }
        return try values.map { value throws(CatalogError) in try ColumnTitle(field, value) }
    }
}

extension ImportProfile.VariantRows {
    fileprivate init(_ value: JSONValue) throws(CatalogError) {
        var reader = try BodyReader(value, parameter: "variants", example: #"{"column":"Parent","inherit":["Name"]}"#)
        let reference = try ColumnTitle.list("variants.column", reader.value("column"))
        var keys: [Key] = []
        for (title, prefix) in try reader.members("keys") {
            guard case .string(let prefix) = prefix, prefix.utf8.count <= 32, !ColumnTitle.key(title).isEmpty else {
                throw .invalidProfile(
                    "variants.keys",
                    "must have titles of columns, each with a text of at most 32 bytes"
                )
            }
            keys.append(Key(ColumnTitle(title), prefix: prefix))
        }
        let columns = try ColumnTitle.list("variants.inherit", reader.value("inherit"))
        try reader.end()
        self.init(reference: reference, keys: keys, columns: columns)
    }
}

extension ImportProfile.Words {
    fileprivate init(_ value: JSONValue) throws(CatalogError) {
        self.init()
        var reader = try BodyReader(value, parameter: "words", example: #"{"available":["yes"],"unavailable":["no"]}"#)
        available = Set(try reader.strings("available") ?? [])
        unavailable = Set(try reader.strings("unavailable") ?? [])
        for (word, unit) in try reader.members("units") {
            guard case .string(let name) = unit, let unit = MeasureUnit(spelling: name),
                (1...64).contains(word.utf8.count)
            else {
                throw .malformed(
                    parameter: "words.units.\(word.prefix(64))",
                    detail: "a word must have a unit",
                    allowed: MeasureUnit.allCases.map(\.rawValue)
                )
            }
            units[word] = unit
        }
        try reader.end()
        guard available.isDisjoint(with: unavailable) else {
            throw .invalidProfile("words", "must not have a word that is both available and unavailable")
        }
        guard max(available.count, unavailable.count, units.count) <= 500 else {
            throw .invalidProfile("words", "must have at most 500 words of each kind")
        }
    }
}

extension BodyReader {
    /// Returns the members of an object; none if it is missing.
    fileprivate mutating func members(_ name: String) throws(CatalogError) -> [(String, JSONValue)] {
        guard let value = value(name) else { return [] }
        guard case .object(let members) = value else { throw .invalidProfile(name, "must be an object") }
        return members.map { ($0.name, $0.value) }
    }

    fileprivate mutating func conditions(_ name: String) throws(CatalogError) -> [RowCondition] {
        guard let value = value(name) else { return [] }
        guard case .array(let values) = value, values.count <= 20 else {
            throw .invalidProfile(name, "must be an array of at most 20 conditions")
        }
        return try values.enumerated().map { index, value throws(CatalogError) in
            var reader = try BodyReader(
                value,
                parameter: "\(name)[\(index)]",
                example: #"{"column":"Status","is":["active"]}"#
            )
            let columns = try ColumnTitle.list("\(name).column", reader.value("column"))
            guard let accepted = try reader.strings("is"), (1...100).contains(accepted.count) else {
                throw .invalidProfile("\(name).is", "must have 1 to 100 texts")
            }
            try reader.end()
            return RowCondition(columns, Set(accepted))
        }
    }
}

extension CatalogError {
    fileprivate static func invalidProfile(_ field: String, _ reason: String) -> CatalogError {
        .unprocessable(field: field, detail: "\(field) \(reason)")
    }
}
