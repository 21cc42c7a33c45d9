package import Catalog
package import Ordering

extension AttributeSet {
    /// Attributes of all types, one of them with the name of a built-in key.
    package static let sample: AttributeSet = {
        func definition(
            _ name: String,
            _ form: AttributeForm,
            natural: SortDirection = .ascending
        ) -> AttributeDeclaration {
            let title = try! AttributeTitles(["en": "The \(name)", "hr": "Ime \(name)"], field: "title")
            return .definition(
                try! AttributeDefinition(
                    name: AttributeName(name)!,
                    form: form,
                    title: title,
                    naturalDirection: natural
                )
            )
        }
        func options(_ keys: String) -> [AttributeOption] { keys.map { AttributeOption(key: String($0)) } }
        func number(_ name: String) -> AttributeRatio.Operand { .number(AttributeName(name)!) }
        return AttributeSet(
            deployment: [
                definition("rating", .number(decimals: 1), natural: .descending),
                definition("protein", .number(decimals: 2)), definition("price", .number(decimals: 0)),
                definition("grade", .enumeration(options("dabc"))), definition("origin", .text),
                definition("organic", .boolean), definition("harvest", .date, natural: .descending),
                definition("allergens", .set(options("nmgs"))), definition("labels", .set(nil)),
                definition(
                    "protein_price",
                    .ratio(
                        AttributeRatio(numerator: .price, denominators: [number("protein"), .quantity], scale: 10_000)
                    )
                ),
                definition(
                    "worth",
                    .ratio(AttributeRatio(numerator: number("rating"), denominators: [number("protein")])),
                    natural: .descending
                ),
            ]
        )
    }()
}

extension ResolvedAttributes {
    package static let sample = ResolvedAttributes(.sample)

    /// All sort keys of the attributes.
    package var sortKeys: [SortKey] { all.filter(\.isSortable).map { .attribute(.resolved($0)) } }

    /// All filter keys of the attributes.
    package var filterKeys: [FilterKey] {
        all.flatMap { attribute in attribute.form.operators.map { .attribute(.resolved(attribute), $0) } }
    }

    /// All facets of the attributes.
    package var facets: [Facet] { all.map { .attribute(.resolved($0)) } }
}

extension Product {
    /// Returns random values of the sample attributes as JSON: with ties, missing values, values of other types and empty sets.
    package static func randomAttributes(using generator: inout SeededGenerator) -> String {
        let values: [(name: String, texts: [String])] = [
            ("rating", ["4.5", "4.5", "4", "4.0", "-1.5", "0", "0.0", "12e-1", "\"4.5\"", "4.55", "99999999999999.9"]),
            ("protein", ["3.25", "10", "0.5", "0", "-2", "true", "3.250", "20.01"]),
            ("price", ["1", "2", "3", "\"x\""]),
            ("grade", ["\"a\"", "\"b\"", "\"c\"", "\"d\"", "\"z\"", "1"]),
            (
                "origin",
                [
                    "\"Istria\"", "\" Istria \"", "\"istria\"", "\"Istra\"", "\"Ärla\"", "\"A\\u0308rla\"",
                    "\"a \\\"quote\\\", {x}\"", "\"\"", "[]",
                ]
            ),
            ("organic", ["true", "false", "\"true\"", "null"]),
            ("harvest", ["\"2026-03-01\"", "\"2026-03-02\"", "\"2019-12-31\"", "\"1969-12-31\"", "\"2026-02-30\""]),
            ("allergens", ["[]", "[\"n\"]", "[\"m\",\"n\"]", "[\"n\",\"m\"]", "[\"g\"]", "[\"x\"]", "\"n\""]),
            ("labels", ["[]", "[\"vegan\"]", "[\"vegan\",\"Ärla\"]", "[\"new\",\"vegan\",\"new\"]", "[1]", "{}"]),
            ("other", ["{\"rating\":[1,{\"a\":\"}\"}]}", "[[],\"]\"]", "1.5e3"]),
        ]
        var members: [String] = []
        for (name, texts) in values.shuffled(using: &generator) where Int.random(in: 0..<4, using: &generator) > 0 {
            let space = Bool.random(using: &generator) ? " " : ""
            members.append("\"\(name)\":\(space)\(texts.randomElement(using: &generator)!)")
        }
        return members.isEmpty ? "{}" : "{\(members.joined(separator: ", "))}"
    }
}

extension ResolvedAttribute {
    /// Returns random texts of a filter, chosen so that products lie exactly on its limits.
    package func randomTexts(
        _ condition: AttributeOperator,
        _ products: [Product],
        using generator: inout SeededGenerator
    ) -> [String] {
        let values = products.compactMap { value(of: $0) }.shuffled(using: &generator).prefix(2)
        let texts = values.flatMap { value -> [String] in
            switch value {
            case .set(let elements): elements
            case .ratio(let fraction):
                [
                    ExactDecimal(
                        units(of: fraction, roundedUp: Bool.random(using: &generator)),
                        scale: AttributeForm.limitDecimals
                    ).description
                ]
            default: [form.text(of: value)]
            }
        }
        switch condition {
        case .atLeast, .atMost: return [texts.first ?? (form == .date ? "2026-03-01" : "1")]
        case .equals, .anyOf:
            let chosen = (texts + [""]).shuffled(using: &generator).prefix(2)
            return Array(chosen)
        case .allOf, .noneOf: return texts.isEmpty ? ["n"] : texts
        }
    }
}
