internal import JSON

extension FilterKey {
    /// The form of a key's values in requests and on the command line.
    package enum Form: Sendable, Hashable {
        /// One or more texts, any of which may match; the empty text matches products without a value.
        case texts
        case flag
        /// The start or the end of a range, as a decimal in the store's currency.
        case amount(isEnd: Bool)
        /// A decimal in the store's currency per quantity: `1.20/100g`.
        case amountPerQuantity
        /// The start or the end of a range, as a time, or as a UTC day, which means its start or its end.
        case timestamp(isEnd: Bool)
        case dimensions
        /// One or more tags, all of which count.
        case tags
        /// Values of an attribute, as their texts; the form of the attribute is nil before it is looked up.
        case attribute(AttributeForm?, AttributeOperator)
    }
}

extension FilterKey.Form {
    /// The maximum length of a text, in bytes.
    private static let textLimit = 500

    /// The name in the API.
    package var name: String {
        switch self {
        case .texts: "text"
        case .flag: "boolean"
        case .amount: "amount"
        case .amountPerQuantity: "amount_per_quantity"
        case .timestamp: "time"
        case .dimensions: "dimension"
        case .tags: "text"
        case .attribute(let form, _): form?.typeName ?? "attribute"
        }
    }

    /// Whether several values may be given.
    package var isRepeatable: Bool {
        switch self {
        case .texts, .dimensions, .tags: true
        case .flag, .amount, .amountPerQuantity, .timestamp: false
        case .attribute(_, let condition): !condition.isRange
        }
    }

    /// Whether the value is the end of a range.
    var isEnd: Bool {
        switch self {
        case .amount(let isEnd), .timestamp(let isEnd): isEnd
        case .texts, .flag, .amountPerQuantity, .dimensions, .tags, .attribute: false
        }
    }

    /// The requirement on a value, for error messages.
    var rule: String {
        switch self {
        case .texts: "printable text of at most \(Self.textLimit) bytes"
        case .flag: "true or false"
        case .amount: "a decimal of 0 or more in the store's currency, such as 4.99"
        case .amountPerQuantity: "an amount per quantity, such as 1.20/100g or 12/kg"
        case .timestamp: "a time such as 2026-03-01T08:00:00Z, or a day such as 2026-03-01"
        case .dimensions: "one of the allowed values"
        case .tags: "a tag: \(Product.tagRule)"
        case .attribute: "a number, true, false, or printable text of at most \(Self.textLimit) bytes"
        }
    }

    /// The allowed values, for error messages; empty if there is no list.
    var allowed: [String] {
        switch self {
        case .flag: ["true", "false"]
        case .dimensions: Dimension.allCases.map(\.rawValue)
        case .texts, .amount, .amountPerQuantity, .timestamp, .tags, .attribute: []
        }
    }

    /// Returns the text of a value in JSON; nil for another type.
    func text(of json: JSONValue) -> String? {
        switch (self, json) {
        case (.flag, .bool(let flag)): flag ? "true" : "false"
        case (.amount, .number(let digits)): digits
        case (.texts, .string(let text)), (.amount, .string(let text)), (.amountPerQuantity, .string(let text)),
            (.timestamp, .string(let text)), (.dimensions, .string(let text)), (.tags, .string(let text)),
            (.attribute, .string(let text)), (.attribute, .number(let text)):
            text
        case (.attribute, .bool(let flag)): flag ? "true" : "false"
        case (.texts, _), (.flag, _), (.amount, _), (.amountPerQuantity, _), (.timestamp, _), (.dimensions, _),
            (.tags, _), (.attribute, _):
            nil
        }
    }

    /// Parses values; nil if one of them is invalid.
    func value(of given: [String]) -> FilterValue? {
        switch self {
        case .texts: return Self.texts(given) { $0.utf8.count <= Self.textLimit && $0.isPrintable }.map { .texts($0) }
        case .tags: return Self.texts(given, Product.isTag).map { .texts($0) }
        case .attribute:
            return Self.texts(given) { $0.utf8.count <= Self.textLimit && $0.isPrintable }.map { .given($0) }
        case .flag: return given[0] == "true" ? .flag(true) : given[0] == "false" ? .flag(false) : nil
        case .amount: return FilterValue.amount(of: given[0]).map { .amount($0) }
        case .amountPerQuantity: return AmountPerQuantity(given[0]).map { .amountPerQuantity($0) }
        case .timestamp(let isEnd):
            var moment = Timestamp(rfc3339: given[0])
            if given[0].utf8.count == 10, let start = Timestamp(rfc3339: given[0] + "T00:00:00Z") {
                let day: Int64 = 86_400_000_000
                moment = isEnd ? Timestamp(microseconds: start.microseconds + day - 1) : start
            }
            // An offset may move the time to a year outside 1 to 9999, which could not be parsed again.
            guard let moment, Timestamp(rfc3339: moment.rfc3339) == moment else { return nil }
            return .moment(moment)
        case .dimensions:
            let wanted = given.compactMap(Dimension.init)
            return wanted.count == given.count ? .dimensions(Dimension.allCases.filter(wanted.contains)) : nil
        }
    }

    /// Returns composed texts in the order of their bytes, without duplicates; nil if one of them is invalid.
    private static func texts(_ given: [String], _ isValid: (String) -> Bool) -> [String]? {
        let texts = given.map(\.composed)
        return texts.allSatisfy(isValid) ? texts.inByteOrder : nil
    }
}

extension [String] {
    /// The texts in the order of their bytes, without duplicates.
    var inByteOrder: [String] {
        let sorted = self.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        return sorted.enumerated().filter { $0 == 0 || !sorted[$0 - 1].utf8.elementsEqual($1.utf8) }.map(\.element)
    }
}

/// The value of one filter key.
package enum FilterValue: Sendable, Hashable {
    /// Sorted by bytes, without duplicates.
    case texts([String])
    case flag(Bool)
    case amount(ExactDecimal)
    case amountPerQuantity(AmountPerQuantity)
    case moment(Timestamp)
    /// In declaration order, without duplicates.
    case dimensions([Dimension])
    /// The texts of a filter by an attribute that is not looked up. Sorted by bytes, without duplicates.
    case given([String])
    case attribute(AttributeCondition)
}

extension FilterValue {
    /// Parses a non-negative decimal with at most 12 digits before and 6 after the point.
    static func amount(of text: String) -> ExactDecimal? {
        guard let amount = ExactDecimal(text), !amount.isNegative, amount.scale <= 6,
            amount < ExactDecimal(1_000_000_000_000)
        else { return nil }
        return amount
    }

    /// The texts of the value; parsing them returns an equal value.
    var texts: [String] {
        switch self {
        case .texts(let texts): texts
        case .flag(let flag): [flag ? "true" : "false"]
        case .amount(let amount): [amount.description]
        case .amountPerQuantity(let limit): [limit.text]
        case .moment(let moment): [moment.rfc3339]
        case .dimensions(let dimensions): dimensions.map(\.rawValue)
        case .given(let texts): texts
        case .attribute(let condition): condition.texts
        }
    }

    /// The value in JSON, of a key with this form.
    func json(_ form: FilterKey.Form) -> JSONValue {
        if case .flag(let flag) = self { return .bool(flag) }
        return form.isRepeatable ? .array(texts.map { .string($0) }) : .string(texts[0])
    }

    /// Returns whether the end of a range is below its start.
    func isBelow(_ start: FilterValue) -> Bool {
        switch (self, start) {
        case (.amount(let end), .amount(let start)): end < start
        case (.moment(let end), .moment(let start)): end < start
        // Other forms have no ranges; those of attributes are checked when they are looked up.
        case (.texts, _), (.flag, _), (.amount, _), (.amountPerQuantity, _), (.moment, _), (.dimensions, _),
            (.given, _),
            (.attribute, _):
            false
        }
    }
}
