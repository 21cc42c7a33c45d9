package import JSON

/// A declared property of products.
package struct AttributeDefinition: Hashable, Sendable {
    package let name: AttributeName
    package var form: AttributeForm
    package var title: AttributeTitles
    /// The direction that users expect by default.
    package var naturalDirection: SortDirection
    /// The unit of a number, as people read it.
    package var unit: String?
    /// Whether searches find products by the attribute; only of a text, an enum or a set.
    package var isSearchable: Bool

    /// - Throws: `unprocessable`.
    package init(
        name: AttributeName,
        form: AttributeForm,
        title: AttributeTitles = .none,
        naturalDirection: SortDirection = .ascending,
        unit: String? = nil,
        isSearchable: Bool = false
    ) throws(CatalogError) {
        (self.name, self.form, self.title) = (name, form, title)
        (self.naturalDirection, self.unit, self.isSearchable) = (naturalDirection, unit, isSearchable)
        try form.check(name)
        if let unit { try Self.checkText(unit, "unit", bytes: Self.unitLimit) }
    }

    /// Creates a definition that this release cannot read.
    init(_ name: AttributeName, unknown form: AttributeForm, title: AttributeTitles) {
        (self.name, self.form, self.title) = (name, form, title)
        (naturalDirection, unit, isSearchable) = (.ascending, nil, false)
    }

    /// The maximum number of attributes in effect in a store.
    package static let countLimit = 64
    /// The maximum length of a unit, in bytes.
    package static let unitLimit = 16
    /// The maximum length of a declaration as JSON, in bytes.
    package static let documentLimit = 64 << 10
    /// The maximum length of all declarations of an owner as JSON, in bytes: every list of attributes has them.
    package static let documentsLimit = 512 << 10

    /// The definition without titles.
    package var untitled: AttributeDefinition {
        var copy = self
        copy.title = .none
        copy.form = form.untitled
        return copy
    }

    /// Returns the definition with the titles of a store in place of its own.
    package func retitled(_ own: AttributeRetitling) -> AttributeDefinition {
        var copy = self
        copy.title = title.merging(own.title)
        copy.form = form.retitled(own.options)
        return copy
    }

    /// Checks that the titles of the definition have at most `AttributeTitles.languageLimit` languages each. Those of the deployment and of
    /// a store together may have more.
    ///
    /// - Throws: `unprocessable`.
    func checkLanguages() throws(CatalogError) {
        let titles = [("title", title)] + form.options.enumerated().map { ("values[\($0)].title", $1.title) }
        for (field, title) in titles { try title.checkLanguages(field) }
    }

    /// The titles of the definition.
    package var titles: AttributeRetitling {
        AttributeRetitling(title: title, options: form.options.filter { !$0.title.isEmpty })
    }

    static func checkText(_ text: String, _ field: String, bytes: Int) throws(CatalogError) {
        guard (1...bytes).contains(text.utf8.count), text.isPrintable, text == text.trimmed else {
            throw .unprocessable(
                field: field,
                detail: "\(field) must have 1 to \(bytes) bytes of printable text without leading or trailing spaces"
            )
        }
    }
}

/// The titles that a store gives to an attribute of the deployment, and to its values.
package struct AttributeRetitling: Hashable, Sendable {
    package var title: AttributeTitles
    /// The values with other titles.
    package var options: [AttributeOption]

    package init(title: AttributeTitles, options: [AttributeOption] = []) {
        (self.title, self.options) = (title, options)
    }

    /// Returns the titles without those that are the same in other titles: a client sends back what it reads.
    func removing(_ other: AttributeRetitling) -> AttributeRetitling {
        let others = Dictionary(other.options.map { ($0.key, $0.title) }) { first, _ in first }
        let own = options.map { AttributeOption(key: $0.key, title: $0.title.removing(others[$0.key] ?? .none)) }
        return AttributeRetitling(title: title.removing(other.title), options: own.filter { !$0.title.isEmpty })
    }
}

/// A value that an enum or a closed set declares.
package struct AttributeOption: Hashable, Sendable {
    /// The value in products and filters.
    package var key: String
    package var title: AttributeTitles

    package init(key: String, title: AttributeTitles = .none) { (self.key, self.title) = (key, title) }
}

/// The type of an attribute with its parameters.
package enum AttributeForm: Hashable, Sendable {
    /// A decimal with at most this number of decimals.
    case number(decimals: Int)
    /// One of the options, in their order.
    case enumeration([AttributeOption])
    /// Some of the options; nil for any texts.
    case set([AttributeOption]?)
    case text, boolean, date
    /// A fraction, computed from other values.
    case ratio(AttributeRatio)
    /// The form of a later release, with the members of its document. Its values are neither checked nor read.
    case unknown(type: String, [JSONValue.Member])

    /// The name of the type in JSON.
    package var typeName: String {
        switch self {
        case .number: AttributeType.number.rawValue
        case .enumeration: AttributeType.enumeration.rawValue
        case .set: AttributeType.set.rawValue
        case .text: AttributeType.text.rawValue
        case .boolean: AttributeType.boolean.rawValue
        case .date: AttributeType.date.rawValue
        case .ratio: AttributeType.ratio.rawValue
        case .unknown(let type, _): type
        }
    }

    /// The declared values; empty without any.
    package var options: [AttributeOption] {
        switch self {
        case .enumeration(let options): options
        case .set(let options): options ?? []
        case .number, .text, .boolean, .date, .ratio, .unknown: []
        }
    }

    /// The range of the decimals of numbers. Values have 15 digits, so nine decimals leave six digits before the point. That suffices for
    /// micrograms of a kilogram.
    package static let decimalsRange = 0...9
    /// The maximum number of options.
    package static let optionLimit = 200

    fileprivate var untitled: AttributeForm {
        func untitled(_ options: [AttributeOption]) -> [AttributeOption] {
            options.map { AttributeOption(key: $0.key) }
        }
        return switch self {
        case .enumeration(let options): .enumeration(untitled(options))
        case .set(let options): .set(options.map(untitled))
        case .number, .text, .boolean, .date, .ratio, .unknown: self
        }
    }

    fileprivate func retitled(_ own: [AttributeOption]) -> AttributeForm {
        let titles = Dictionary(own.map { ($0.key, $0.title) }) { first, _ in first }
        func retitled(_ options: [AttributeOption]) -> [AttributeOption] {
            options.map { option in
                AttributeOption(key: option.key, title: option.title.merging(titles[option.key] ?? .none))
            }
        }
        return switch self {
        case .enumeration(let options): .enumeration(retitled(options))
        case .set(let options): .set(options.map(retitled))
        case .number, .text, .boolean, .date, .ratio, .unknown: self
        }
    }

    fileprivate func check(_ name: AttributeName) throws(CatalogError) {
        switch self {
        case .number(let decimals):
            guard Self.decimalsRange.contains(decimals) else {
                let range = Self.decimalsRange
                throw .unprocessable(
                    field: "decimals",
                    detail: "decimals must be between \(range.lowerBound) and \(range.upperBound) (got \(decimals))"
                )
            }
        case .enumeration(let options): try Self.check(options)
        case .set(let options): if let options { try Self.check(options) }
        case .text, .boolean, .date, .unknown: break
        case .ratio(let ratio): try ratio.check(name)
        }
    }

    private static func check(_ options: [AttributeOption]) throws(CatalogError) {
        guard (1...optionLimit).contains(options.count) else {
            throw .unprocessable(
                field: "values",
                detail: "values must have 1 to \(optionLimit) elements (got \(options.count))"
            )
        }
        try AttributeOption.checkKeys(options)
    }
}

extension AttributeOption {
    /// Checks that keys have the form of tags, and that none is repeated.
    ///
    /// - Throws: `unprocessable`.
    static func checkKeys(_ options: [AttributeOption]) throws(CatalogError) {
        var known: Set<String> = []
        for (index, option) in options.enumerated() {
            guard Product.isTag(option.key) else {
                throw .unprocessable(
                    field: "values[\(index)].key",
                    detail: "values[\(index)].key must be \(Product.tagRule) (got “\(option.key.visible.prefix(64))”)"
                )
            }
            guard known.insert(option.key).inserted else {
                throw .unprocessable(
                    field: "values[\(index)].key",
                    detail: "values[\(index)].key “\(option.key)” is repeated; every key must be different"
                )
            }
        }
    }
}

/// The type of an attribute, by its name in JSON.
package enum AttributeType: String, CaseIterable, Sendable, Hashable {
    case number
    case enumeration = "enum"
    case set, text, boolean, date, ratio

    /// Whether the values are texts, which searches can find.
    package var hasTexts: Bool {
        switch self {
        case .enumeration, .set, .text: true
        case .number, .boolean, .date, .ratio: false
        }
    }

    /// The type as a noun with its article.
    var phrase: String { "\(self == .enumeration ? "an" : "a") \(rawValue)" }
}

/// The computation of a ratio: numerator × scale ÷ the product of the denominators. With a price, its unit is the minor unit of the store's
/// currency, as in `price_minor`.
package struct AttributeRatio: Hashable, Sendable {
    /// A value of a product.
    package enum Operand: Hashable, Sendable {
        /// The current price in minor units of the store's currency.
        case price
        /// The quantity in the base unit.
        case quantity
        /// Another attribute, which is a number.
        case number(AttributeName)

        package init?(name: String) {
            switch name {
            case "price": self = .price
            case "quantity": self = .quantity
            default:
                guard let attribute = AttributeName(name) else { return nil }
                self = .number(attribute)
            }
        }

        package var name: String {
            switch self {
            case .price: "price"
            case .quantity: "quantity"
            case .number(let attribute): attribute.text
            }
        }
    }

    package var numerator: Operand
    package var denominators: [Operand]
    /// A factor, so that the value is for a quantity that people know.
    package var scale: Int64
    /// The quantity that the value is for, as people read it: `100 g of protein`.
    package var per: String?

    package init(numerator: Operand, denominators: [Operand], scale: Int64 = 1, per: String? = nil) {
        (self.numerator, self.denominators) = (numerator, denominators)
        (self.scale, self.per) = (scale, per)
    }

    /// An operand of a later release, whose name is reserved.
    static let plannedOperand = "offer_price"
    package static let scaleRange: ClosedRange<Int64> = 1...1_000_000_000
    /// The maximum length of `per`, in bytes.
    package static let perLimit = 64

    /// The attributes that the ratio needs.
    package var attributes: [AttributeName] {
        ([numerator] + denominators).compactMap { if case .number(let name) = $0 { name } else { nil } }
    }

    fileprivate func check(_ name: AttributeName) throws(CatalogError) {
        guard numerator != .quantity else {
            throw .unprocessable(
                field: "numerator",
                detail: "numerator must be price, or an attribute that is a number"
            )
        }
        guard (1...2).contains(denominators.count), Set(denominators).count == denominators.count,
            !denominators.contains(.price)
        else {
            throw .unprocessable(
                field: "denominator",
                detail:
                    "denominator must have one or two different elements, each quantity or an attribute that is a number"
            )
        }
        guard !attributes.contains(name) else {
            throw .unprocessable(field: "numerator", detail: "a ratio must not refer to itself, “\(name)”")
        }
        guard Self.scaleRange.contains(scale) else {
            let range = Self.scaleRange
            throw .unprocessable(
                field: "scale",
                detail: "scale must be between \(range.lowerBound) and \(range.upperBound) (got \(scale))"
            )
        }
        if let per { try AttributeDefinition.checkText(per, "per", bytes: Self.perLimit) }
    }
}
