import Catalog
@testable import CatalogHTTP
import JSON
import TestSupport

// The parts of `components` that list the cases of a type. Their descriptions are written by hand.
extension OpenAPI {
    /// The enumerations, by their paths in `components`.
    static let enumerations: [(path: String, values: [JSONValue])] = [
        ("schemas/ShelfSort", values(ShelfSort.allCases)),
        ("schemas/ListSort", values(ListSort.allCases)),
        ("schemas/ItemSort", values(ListItemSort.allCases)),
        ("schemas/SortSource", values(SortSource.allCases)),
        ("schemas/FilterSource", values(FilterSource.allCases)),
        ("schemas/FilterKind", filterKinds.map(JSONValue.string)),
        ("schemas/Dimension", values(Dimension.allCases)),
        ("schemas/UnitOfMeasure", values(MeasureUnit.allCases)),
        ("schemas/UnitPricing", values(UnitPricing.allCases)),
        ("schemas/SoldOut", values(SoldOut.allCases)),
        ("schemas/PopularityMetric", values(PopularityMetric.allCases)),
        ("schemas/DiffMode", values(DiffMode.allCases)),
        ("schemas/DiffForm", values(DiffMode.allCases.filter { $0 != .auto })),
        ("schemas/OrderChangeKind", values(OrderChange.Kind.allCases)),
        ("schemas/ListRole", values(ListRole.allCases)),
        ("schemas/ShareRole", values(ListRole.shared)),
        ("schemas/AttributeType", values(AttributeType.allCases)),
        ("schemas/RankReason", values(ProductRank.Reason.allCases)),
        ("schemas/SearchClass", SearchClass.allCases.map { .string($0.name) }),
        ("schemas/SuggestionKind", values(Suggestion.Kind.allCases)),
        ("schemas/AuditAction", values(AuditAction.ofStores)),
        ("schemas/AuditSource", values(ChangeOrigin.Source.allCases)),
        ("schemas/Scope", values(Scope.allCases)),
        ("schemas/ProblemType", ProblemKind.allCases.map { .string("/problems/\($0.rawValue)") }),
        ("schemas/ImportProfile/properties/format", values(ImportOptions.Format.allCases) + [.null]),
        ("schemas/ImportProfile/properties/separator", values(FieldSeparator.allCases) + [.null]),
        ("schemas/ImportProfile/properties/decimal_mark", values(DecimalMark.allCases) + [.null]),
        ("parameters/problem_slug/schema", values(ProblemKind.allCases)),
        ("parameters/ready_for/schema", values(Readiness.Purpose.allCases)),
        ("parameters/on_error/schema", values(ImportOptions.ErrorPolicy.allCases)),
        ("parameters/encoding/schema", values(TextEncoding.allCases)),
        ("parameters/separator/schema", values(FieldSeparator.allCases)),
        ("parameters/decimal_mark/schema", values(DecimalMark.allCases)),
    ]

    private static func values<Case: RawRepresentable>(_ cases: [Case]) -> [JSONValue] where Case.RawValue == String {
        cases.map { .string($0.rawValue) }
    }

    /// The names of the forms of filters, and of the types of attributes, each once.
    private static var filterKinds: [String] {
        (FilterKey.allCases.map(\.form.name) + AttributeType.allCases.map(\.rawValue)).reduce(into: []) {
            if !$0.contains($1) { $0.append($1) }
        }
    }

    /// Returns `components` with all lists.
    static func listing(in components: JSONValue) throws -> JSONValue {
        var components = components
        for (path, values) in enumerations { try components.change("\(path)/enum") { _ in .array(values) } }
        try describeSorts(in: &components)
        try describeFilters(in: &components)
        return components
    }

    private static func describeSorts(in components: inout JSONValue) throws {
        let names = SortKey.allCases.map { "`\($0.name)`" }
        let list = names.dropLast().joined(separator: ", ") + " and " + names.last!
        try components.change("schemas/SortText/description") { text in
            try text.replacing(between: "The keys are ", and: ". Each key", with: list)
        }
        // The names of attributes include those of built-in keys.
        try components.change("schemas/SortText/pattern") { _ in .string("^-?\(attribute)(,-?\(attribute))*$") }
        let meanings = SortKey.allCases.map { key in
            "\(key.name): \(key.summary)" + (key.isReversible ? "" : "; ascending only")
        }
        try components.change("parameters/sort/description") { text in
            try text.replacing(
                between: "means descending. ",
                and: ". Products without",
                with: meanings.joined(separator: "; ")
            )
        }
    }

    /// The pattern of the name of an attribute, or of a path to one.
    private static let attribute = #"(attributes\.)?[a-z][a-z0-9_]{0,31}"#

    private static func describeFilters(in components: inout JSONValue) throws {
        let facets = Facet.allCases.map(\.name)
        try components.change("parameters/facets/description") { text in
            try text.replacing(between: "by commas: ", and: ". Each facet", with: facets.joined(separator: ", "))
        }
        try components.change("parameters/facets/schema/pattern") { _ in
            .string("^\(attribute)(,\(attribute)){0,\(Facet.countLimit - 1)}$")
        }
        try components.change("schemas/Filter/properties") { old in
            .object(try FilterKey.allCases.map { .init($0.name, try $0.property(old[$0.name])) })
        }
        try components.change("parameters") { old in
            var members = old.members ?? []
            let filters = try FilterKey.allCases.map { key in
                JSONValue.Member("filter_\(key.name)", try key.parameter(old["filter_\(key.name)"]))
            }
            let first = members.firstIndex { $0.name.hasPrefix("filter_") } ?? members.endIndex
            members.removeAll { $0.name.hasPrefix("filter_") }
            members.insert(contentsOf: filters, at: first)
            return .object(members)
        }
    }
}

extension FilterKey {
    /// The schema of one value.
    private var schema: String {
        switch form {
        case .texts: #"{"type":"string","maxLength":500,"pattern":"^[^\\u0000-\\u001f\\u007f-\\u009f]*$"}"#
        case .flag: #"{"type":"boolean"}"#
        case .amount: #"{"type":"string","pattern":"^[0-9]{1,12}(\\.[0-9]{1,6})?$"}"#
        case .amountPerQuantity: #"{"type":"string"}"#
        case .timestamp: #"{"anyOf":[{"type":"string","format":"date"},{"type":"string","format":"date-time"}]}"#
        case .dimensions: ##"{"$ref":"#/components/schemas/Dimension"}"##
        case .tags:
            #"""
            {"type":"string","minLength":1,"maxLength":64,\#
            "pattern":"^[^\\s|;\\u0000-\\u001f\\u007f-\\u009f]([^|;\\u0000-\\u001f\\u007f-\\u009f]*[^\\s|;\\u0000-\\u001f\\u007f-\\u009f])?$"}
            """#
        case .attribute: ##"{"$ref":"#/components/schemas/AttributeFilterValue"}"##
        }
    }

    /// The maximum number of values, if a key may have several.
    private var maximum: Int { form == .dimensions ? Dimension.allCases.count : Filter.valueLimit }

    /// An example of a value; nil if the schema needs none.
    private var example: String? {
        switch form {
        case .amount: "4.99"
        case .amountPerQuantity: "1.20/100g"
        case .timestamp: "2026-03-01"
        case .texts, .flag, .dimensions, .tags, .attribute: nil
        }
    }

    private var examples: [JSONValue.Member] { example.map { [.init("examples", .array([.string($0)]))] } ?? [] }

    private func members(_ text: String) throws -> [JSONValue.Member] {
        try JSONReader.parse(Array(text.utf8)).members ?? []
    }

    /// Returns the description that was written by hand; without one, it follows from the summary.
    private func description(_ old: JSONValue?) -> JSONValue.Member {
        .init("description", old?["description"] ?? .string("Only products \(summary)."))
    }

    /// Returns the parameter of a query.
    fileprivate func parameter(_ old: JSONValue?) throws -> JSONValue {
        let values = form.isRepeatable ? #"{"type":"array","items":\#(schema),"maxItems":\#(maximum)}"# : schema
        var all: [JSONValue.Member] = [.init("name", .string(name)), .init("in", .string("query")), description(old)]
        if form.isRepeatable { all += [.init("style", .string("form")), .init("explode", .bool(true))] }
        all.append(.init("schema", .object(try members(values) + examples)))
        return .object(all)
    }

    /// Returns the property of a filter as an object.
    fileprivate func property(_ old: JSONValue?) throws -> JSONValue {
        let values =
            switch form {
            case .amount: #"{"oneOf":[\#(schema),{"type":"number","minimum":0,"maximum":9999999999}]}"#
            case .texts, .dimensions, .tags:
                #"{"oneOf":[\#(schema),{"type":"array","items":\#(schema),"minItems":1,"maxItems":\#(maximum)}]}"#
            case .flag, .amountPerQuantity, .timestamp, .attribute: schema
            }
        return .object(try members(values) + [description(old)] + examples)
    }
}

extension JSONValue {
    /// Changes a part of an object.
    ///
    /// - Parameter path: the names of members, separated by slashes. They exist.
    fileprivate mutating func change(_ path: String, _ change: (JSONValue) throws -> JSONValue) throws {
        let names = path.split(separator: "/", maxSplits: 1).map(String.init)
        guard case .object(var members) = self, let index = members.firstIndex(where: { $0.name == names[0] }) else {
            throw CatalogError.fault("openapi.json has no \(path)")
        }
        if names.count == 1 {
            members[index].value = try change(members[index].value)
        } else {
            try members[index].value.change(names[1], change)
        }
        self = .object(members)
    }

    /// Returns a text with another part between two others.
    fileprivate func replacing(between start: String, and end: String, with part: String) throws -> JSONValue {
        guard case .string(let text) = self, let before = text.firstRange(of: start)?.upperBound,
            let after = text[before...].firstRange(of: end)?.lowerBound
        else { throw CatalogError.fault("openapi.json has no text between “\(start)” and “\(end)”") }
        return .string("\(text[..<before])\(part)\(text[after...])")
    }
}
