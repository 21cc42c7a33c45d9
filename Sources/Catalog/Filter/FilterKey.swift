/// The one definition of what a shelf is narrowed down by. Everything else about it derives from here: the query parameter,
/// the member in JSON, the database's condition, the test in memory, the command line's option, the help.
package enum FilterKey: String, CaseIterable, Sendable, Hashable {
    case brand, tag
    case inStock = "in_stock"
    case priceMin = "price_min"
    case priceMax = "price_max"
    case unitPriceMax = "unit_price_max"
    case createdAfter = "created_after"
    case createdBefore = "created_before"
    case modifiedAfter = "modified_after"
    case modifiedBefore = "modified_before"
    case dimension

    /// The name in the API and in cursors.
    package var name: String { rawValue }

    /// What its values are.
    package enum Form: Sendable, Hashable {
        /// Any number of texts, of which one must be there; the empty one stands for products that have none.
        case texts
        case flag
        /// A decimal in the store's currency.
        case amount
        /// A decimal in the store's currency per quantity: `1.20/100g`.
        case amountPerQuantity
        /// A moment, or a day in UTC, which counts from its beginning or to its end.
        case moment(isEnd: Bool)
        case dimensions
    }

    package var form: Form {
        switch self {
        case .brand, .tag: .texts
        case .inStock: .flag
        case .priceMin, .priceMax: .amount
        case .unitPriceMax: .amountPerQuantity
        case .createdAfter, .modifiedAfter: .moment(isEnd: false)
        case .createdBefore, .modifiedBefore: .moment(isEnd: true)
        case .dimension: .dimensions
        }
    }

    /// How a product's column is compared with the values.
    package enum Comparison: Sendable, Hashable {
        /// It is one of them.
        case isAny
        /// It has one of them.
        case hasAny
        case equals
        case atLeast, atMost
        /// Its price is at most so much for the quantity; other dimensions do not compare.
        case atMostPerQuantity
    }

    package var comparison: Comparison {
        switch self {
        case .brand, .dimension: .isAny
        case .tag: .hasAny
        case .inStock: .equals
        case .priceMin, .createdAfter, .modifiedAfter: .atLeast
        case .priceMax, .createdBefore, .modifiedBefore: .atMost
        case .unitPriceMax: .atMostPerQuantity
        }
    }

    /// The column of `placement` that is compared.
    package var column: String {
        switch self {
        case .brand: "brand"
        case .tag: "tags"
        case .inStock: "in_stock"
        case .priceMin, .priceMax: "price_minor"
        case .unitPriceMax: "unit_price"
        case .createdAfter, .createdBefore: "created_at"
        case .modifiedAfter, .modifiedBefore: "modified_at"
        case .dimension: "size_dimension"
        }
    }

    /// Whether several values may be given, of which any may hold.
    package var isRepeatable: Bool { form == .texts || form == .dimensions }

    /// The other end of the range that this begins.
    var upperEnd: FilterKey? {
        switch self {
        case .priceMin: .priceMax
        case .createdAfter: .createdBefore
        case .modifiedAfter: .modifiedBefore
        default: nil
        }
    }

    /// What is left over, in a sentence for help texts and the API's description.
    package var summary: String {
        switch self {
        case .brand: "of this brand; an empty one: without a brand"
        case .tag: "with this tag; an empty one: without tags"
        case .inStock: "in stock, or sold out"
        case .priceMin: "that cost at least so much, in the store's currency"
        case .priceMax: "that cost at most so much, in the store's currency"
        case .unitPriceMax:
            "that cost at most so much for a quantity, such as 1.20/100g; measured in another dimension: none"
        case .createdAfter: "made then or later; a day counts from its beginning, in UTC"
        case .createdBefore: "made then or before; a day counts to its end, in UTC"
        case .modifiedAfter: "changed then or later; a day counts from its beginning, in UTC"
        case .modifiedBefore: "last changed then or before; a day counts to its end, in UTC"
        case .dimension: "whose size is a \(Dimension.allCases.map(\.rawValue).joined(separator: ", "))"
        }
    }
}

/// What a filter compares by one key.
package enum FilterValue: Sendable, Hashable {
    /// In the order of their bytes, none twice.
    case texts([String])
    case flag(Bool)
    case amount(ExactDecimal)
    case amountPerQuantity(AmountPerQuantity)
    case moment(Timestamp)
    /// In their own order, none twice.
    case dimensions([Dimension])
}

/// A price for a quantity, such as 1.20 for 100 g: in the currency of whatever store it is compared in.
package struct AmountPerQuantity: Sendable, Hashable {
    package let amount: ExactDecimal
    package let quantity: ExactDecimal
    package let unit: MeasureUnit

    /// Reads `1.20/100g`, `12/kg`, `0.5 / piece`; nil for anything else, and for what is out of the bounds of prices and sizes.
    package init?(_ text: String) {
        let halves = text.split(separator: "/", omittingEmptySubsequences: false).map { String($0).trimmed }
        guard halves.count == 2, let amount = FilterValue.amount(of: halves[0]), amount.significand < Self.bound
        else { return nil }
        let digits = halves[1].prefix { $0.isASCIIDigit || $0 == "." }
        guard let unit = MeasureUnit(spelling: String(halves[1].dropFirst(digits.count)).trimmed),
            let quantity = digits.isEmpty ? ExactDecimal(1) : ExactDecimal(digits), digits.utf8.count <= 12,
            let base = quantity.multiplied(by: unit.factor), !base.isZero
        else { return nil }
        self.amount = amount
        self.quantity = quantity
        self.unit = unit
        self.baseQuantity = base
    }

    /// In g, ml, pieces, m, m² or doses.
    package let baseQuantity: ExactDecimal

    /// The digits of an amount are fewer, so that it times any size fits into 128 bits.
    private static let bound: Int128 = 1_000_000_000_000_000

    package var text: String { "\(amount)/\(quantity == ExactDecimal(1) ? "" : quantity.description)\(unit.rawValue)" }

    /// Whether a product costs no more. Exact.
    func covers(_ product: Product, in currency: Currency) -> Bool {
        guard let price = product.priceMinor, let size = product.size, size.unit.dimension == unit.dimension,
            let cost = baseQuantity.multiplied(by: ExactDecimal(Int128(price), scale: currency.exponent)),
            let bound = size.baseQuantity.multiplied(by: amount)
        else { return false }
        return cost <= bound
    }
}

extension FilterValue {
    /// A decimal that a price may be compared with: not negative, at most 12 digits before the point and 6 behind.
    static func amount(of text: String) -> ExactDecimal? {
        guard let amount = ExactDecimal(text), !amount.isNegative, amount.scale <= 6,
            amount < ExactDecimal(1_000_000_000_000)
        else { return nil }
        return amount
    }
}
