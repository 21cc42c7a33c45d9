package import JSON

/// The owner of declarations of attributes, or of synonyms.
package enum DeclarationOwner: Sendable, Hashable {
    /// All stores.
    case deployment
    case store(CatalogKey)
}

/// The declaration of an attribute by its owner.
package enum AttributeDeclaration: Sendable, Hashable {
    case definition(AttributeDefinition)
    /// Other titles for an attribute of the deployment; only stores have them.
    case titles(AttributeName, AttributeRetitling)

    package var name: AttributeName {
        switch self {
        case .definition(let definition): definition.name
        case .titles(let name, _): name
        }
    }
}

// MARK: - Documents

extension AttributeDeclaration {
    /// The declaration as members of a document, which can be read again.
    package var members: [JSONValue.Member] {
        switch self {
        case .titles(_, let titles):
            return [.init("title", titles.title.json)]
                + (titles.options.isEmpty ? [] : [.init("values", .array(titles.options.map(\.json)))])
        case .definition(let definition): return definition.members
        }
    }

    /// The document.
    package var document: JSONValue { .object(members) }

    /// Reads a stored document.
    ///
    /// A later release may have stored it. Members that this one does not know are ignored. A definition that it cannot read has the form
    /// `unknown`, and titles that it cannot read are none.
    package init(_ name: AttributeName, stored document: JSONValue) {
        do { self = try AttributeDeclaration(name, document, isStored: true) } catch {
            if let definition = AttributeDefinition(name, unknown: document) {
                self = .definition(definition)
            } else {
                self = .titles(name, AttributeRetitling(title: .none))
            }
        }
    }

    /// Reads the body of a request.
    ///
    /// - Throws: `malformed` for an unknown or mistyped member, `unprocessable` for an invalid value. A value that does not apply to the type
    ///   is invalid unless it is null.
    package init(_ name: AttributeName, _ document: JSONValue) throws(CatalogError) {
        self = try AttributeDeclaration(name, document, isStored: false)
    }

    private init(_ name: AttributeName, _ document: JSONValue, isStored: Bool) throws(CatalogError) {
        var reader = try AttributeDocument(document)
        let title = try AttributeTitles(reader.value("title"), field: "title")
        guard let type = try reader.choice("type", AttributeType.self) else {
            let options = try AttributeOption.options(reader.value("values"), isStored: isStored) ?? []
            try AttributeOption.checkKeys(options)
            if !isStored { try reader.end("titles without type") }
            guard options.count <= AttributeForm.optionLimit else {
                throw .unprocessable(
                    field: "values",
                    detail: "values must have at most \(AttributeForm.optionLimit) elements (got \(options.count))"
                )
            }
            self = .titles(name, AttributeRetitling(title: title, options: options.filter { !$0.title.isEmpty }))
            return
        }
        let form = try AttributeForm(type, &reader, isStored: isStored)
        let natural = type == .set ? nil : try reader.choice("natural", NaturalDirection.self)
        let unit = type == .number ? try reader.string("unit") : nil
        let isSearchable = type.hasTexts ? try reader.bool("searchable") ?? false : false
        if !isStored { try reader.end(type.phrase) }
        self = .definition(
            try AttributeDefinition(
                name: name,
                form: form,
                title: title,
                naturalDirection: natural == .descending ? .descending : .ascending,
                unit: unit,
                isSearchable: isSearchable
            )
        )
    }
}

/// A direction by its name in JSON.
private enum NaturalDirection: String, CaseIterable {
    case ascending = "asc"
    case descending = "desc"
}

extension AttributeDefinition {
    /// The definition as members of a document. All members of the type are present.
    package var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("type", .string(form.typeName)), .init("title", title.json)]
        switch form {
        case .unknown(_, let others): return members + others
        case .number(let decimals):
            members += [.init("decimals", .integer(decimals)), .init("unit", .text(unit))]
        case .enumeration(let options): members.append(.init("values", .array(options.map(\.json))))
        case .set(let options): members.append(.init("values", options.map { .array($0.map(\.json)) } ?? .null))
        case .text, .boolean, .date: break
        case .ratio(let ratio):
            members += [
                .init("numerator", .string(ratio.numerator.name)),
                .init("denominator", .array(ratio.denominators.map { .string($0.name) })),
                .init("scale", .integer(ratio.scale)), .init("per", .text(ratio.per)),
            ]
        }
        if AttributeType(rawValue: form.typeName)?.hasTexts == true {
            members.append(.init("searchable", .bool(isSearchable)))
        }
        if form.typeName != AttributeType.set.rawValue {
            let natural: NaturalDirection = naturalDirection == .ascending ? .ascending : .descending
            members.append(.init("natural", .string(natural.rawValue)))
        }
        return members
    }
}

extension AttributeDefinition {
    /// Creates a definition from a stored document that this release cannot read; nil for a document without a type.
    fileprivate init?(_ name: AttributeName, unknown document: JSONValue) {
        guard case .object(let members) = document, case .string(let type)? = document["type"] else { return nil }
        let others = members.filter { !["type", "title"].contains($0.name) }
        self.init(
            name,
            unknown: .unknown(type: type, others),
            title: (try? AttributeTitles(document["title"], field: "title")) ?? .none
        )
    }
}

extension AttributeForm {
    fileprivate init(
        _ type: AttributeType,
        _ reader: inout AttributeDocument,
        isStored: Bool
    ) throws(CatalogError) {
        switch type {
        case .number: self = .number(decimals: Int(clamping: try reader.integer("decimals") ?? 0))
        case .enumeration:
            self = .enumeration(try AttributeOption.options(reader.value("values"), isStored: isStored) ?? [])
        case .set: self = .set(try AttributeOption.options(reader.value("values"), isStored: isStored))
        case .text: self = .text
        case .boolean: self = .boolean
        case .date: self = .date
        case .ratio: self = .ratio(try AttributeRatio(&reader))
        }
    }
}

extension AttributeRatio {
    fileprivate init(_ reader: inout AttributeDocument) throws(CatalogError) {
        func operand(_ value: JSONValue?, _ field: String) throws(CatalogError) -> Operand {
            guard case .string(let text)? = value, let operand = Operand(name: text) else {
                throw .malformed(
                    parameter: field,
                    detail: "\(field) must be price, quantity or the name of an attribute that is a number"
                )
            }
            if case .number(let name) = operand, name.text == Self.plannedOperand {
                throw .unprocessable(field: field, detail: "\(field): “\(name)” is not available yet; use price")
            }
            return operand
        }
        let numerator = try operand(reader.value("numerator"), "numerator")
        guard case .array(let values)? = reader.value("denominator") else {
            throw .malformed(parameter: "denominator", detail: "denominator must be an array of one or two names")
        }
        var denominators: [Operand] = []
        for value in values { denominators.append(try operand(value, "denominator")) }
        self.init(
            numerator: numerator,
            denominators: denominators,
            scale: try reader.integer("scale") ?? 1,
            per: try reader.string("per")
        )
    }
}

extension AttributeOption {
    fileprivate var json: JSONValue { .object([.init("key", .string(key)), .init("title", title.json)]) }

    /// Reads an array of options; nil for nil.
    fileprivate static func options(_ value: JSONValue?, isStored: Bool) throws(CatalogError) -> [AttributeOption]? {
        guard let value else { return nil }
        guard case .array(let elements) = value else {
            throw .malformed(parameter: "values", detail: "values must be an array of objects with key and title")
        }
        var options: [AttributeOption] = []
        for (index, element) in elements.enumerated() {
            let field = "values[\(index)]"
            var reader = try AttributeDocument(element, field: field)
            guard let key = try reader.string("key") else {
                throw .malformed(parameter: "\(field).key", detail: "\(field).key is required")
            }
            let title = try AttributeTitles(reader.value("title"), field: "\(field).title")
            if !isStored { try reader.end(field) }
            options.append(AttributeOption(key: key.composed, title: title))
        }
        return options
    }
}

extension AttributeTitles {
    fileprivate var json: JSONValue {
        .object(texts.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })
    }

    fileprivate init(_ value: JSONValue?, field: String) throws(CatalogError) {
        var texts: [String: String] = [:]
        if let value {
            guard case .object(let members) = value else {
                throw .malformed(parameter: field, detail: "\(field) must be an object such as {\"en\":\"Rating\"}")
            }
            for member in members {
                guard case .string(let text) = member.value else {
                    throw .malformed(
                        parameter: "\(field).\(member.name.visible.prefix(64))",
                        detail: "\(field).\(member.name.visible.prefix(64)) must be a string"
                    )
                }
                texts[member.name] = text.composed
            }
        }
        try self.init(texts, field: field)
    }
}

/// Reads the members of a document one by one, and rejects unknown ones.
private struct AttributeDocument {
    private let members: [JSONValue.Member]
    /// The prefix of fields in messages.
    private let prefix: String
    private var known: [String] = []

    init(_ value: JSONValue, field: String? = nil) throws(CatalogError) {
        guard case .object(let members) = value else {
            throw .malformed(parameter: field, detail: "\(field ?? "the body") must be a JSON object")
        }
        self.members = members
        prefix = field.map { "\($0)." } ?? ""
    }

    /// Returns a member; nil if it is missing or null.
    mutating func value(_ name: String) -> JSONValue? {
        known.append(name)
        return members.first { $0.name == name }.flatMap { $0.value == .null ? nil : $0.value }
    }

    mutating func string(_ name: String) throws(CatalogError) -> String? {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value else {
            throw .malformed(parameter: prefix + name, detail: "\(prefix)\(name) must be a string")
        }
        return text
    }

    mutating func bool(_ name: String) throws(CatalogError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard case .bool(let flag) = value else {
            throw .malformed(parameter: prefix + name, detail: "\(prefix)\(name) must be true or false")
        }
        return flag
    }

    mutating func integer(_ name: String) throws(CatalogError) -> Int64? {
        guard let value = value(name) else { return nil }
        guard case .number(let digits) = value, let integer = Int64(integral: digits) else {
            throw .malformed(parameter: prefix + name, detail: "\(prefix)\(name) must be an integer")
        }
        return integer
    }

    mutating func choice<C: RawRepresentable & CaseIterable>(
        _ name: String,
        _: C.Type
    ) throws(CatalogError) -> C? where C.RawValue == String {
        guard let value = value(name) else { return nil }
        guard case .string(let text) = value, let choice = C(rawValue: text) else {
            throw .malformed(
                parameter: prefix + name,
                detail: "\(prefix)\(name) must be one of the allowed values (got \(value.text.prefix(64)))",
                allowed: C.allCases.map(\.rawValue)
            )
        }
        return choice
    }

    /// The properties of some kind of declaration. Null for one of another kind is the default, which is none.
    private static let properties: Set<String> = [
        "type", "title", "decimals", "unit", "values", "numerator", "denominator", "scale", "per", "natural",
        "searchable",
    ]

    /// - Parameter subject: what the document declares, as a noun phrase.
    /// - Throws: `malformed` for an unknown member, `unprocessable` for one that does not apply to the subject.
    func end(_ subject: String) throws(CatalogError) {
        for member in members where !known.contains(member.name) {
            let isProperty = prefix.isEmpty && Self.properties.contains(member.name)
            if isProperty, member.value == .null { continue }
            let name = "\(prefix)\(member.name.visible.prefix(64))"
            guard !isProperty else {
                throw .unprocessable(field: name, detail: "\(name) does not apply to \(subject); remove it")
            }
            throw .malformed(parameter: name, detail: "unknown property “\(name)”", allowed: known.sorted())
        }
    }
}
