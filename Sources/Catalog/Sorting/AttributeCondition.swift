/// How a filter compares the values of an attribute.
package enum AttributeOperator: String, CaseIterable, Sendable, Hashable {
    /// One of some values.
    case equals = ""
    /// A range; both ends belong to it.
    case atLeast = "_min"
    case atMost = "_max"
    /// Sets with any, all or none of some elements.
    case anyOf = "_any"
    case allOf = "_all"
    case noneOf = "_none"

    /// The end of the filter's name, after that of the attribute.
    package var ending: String { rawValue }

    /// Whether the filter is an end of a range.
    package var isRange: Bool { self == .atLeast || self == .atMost }
}

extension AttributeForm {
    /// The ways to filter by values of this form.
    package var operators: [AttributeOperator] {
        switch self {
        case .number, .date: [.equals, .atLeast, .atMost]
        case .ratio: [.atLeast, .atMost]
        case .enumeration, .text, .boolean: [.equals]
        case .set: [.anyOf, .allOf, .noneOf]
        case .unknown: []
        }
    }
}

/// A filter's condition on the values of an attribute.
///
/// A product without a value fails every condition, unless the condition asks for products without one.
package struct AttributeCondition: Sendable, Hashable {
    package enum Test: Sendable, Hashable {
        /// One of these values, or none if that is asked for.
        case values([AttributeValue], acceptsMissing: Bool)
        case atLeast(AttributeValue)
        case atMost(AttributeValue)
        /// Sets with one of these elements, or without elements if that is asked for.
        case anyOf([String], acceptsEmpty: Bool)
        case allOf([String])
        case noneOf([String])
    }

    package let test: Test
    /// The values as texts: equal conditions have equal texts.
    package let texts: [String]

    /// Reads the texts of a filter. An empty text asks for products without a value, or for empty sets.
    ///
    /// - Throws: `malformed`, naming the parameter.
    init(_ given: [String], _ condition: AttributeOperator, _ attribute: ResolvedAttribute) throws(CatalogError) {
        let key = FilterKey.attribute(.resolved(attribute), condition)
        guard attribute.form.operators.contains(condition) else {
            let allowed = attribute.form.operators.map { FilterKey.attribute(.resolved(attribute), $0).name }
            throw .malformed(
                parameter: key.name,
                detail: "\(key.name) does not apply to “\(attribute.name)”, whose type is \(attribute.form.typeName)",
                allowed: allowed,
                hint: allowed.first
            )
        }
        func malformed(_ text: String, _ rule: String) -> CatalogError {
            .malformed(
                parameter: key.name,
                detail: "\(key.name) must be \(rule) (got “\(text.prefix(64))”)",
                allowed: attribute.form.allowedTexts
            )
        }
        let asksForNone = given.contains("")
        let named = given.filter { !$0.isEmpty }
        switch condition {
        case .equals:
            var values: [String: AttributeValue] = [:]
            for text in named {
                guard let value = attribute.form.value(of: text) else { throw malformed(text, attribute.form.rule) }
                values[attribute.form.text(of: value)] = value
            }
            texts = (asksForNone ? [""] : []) + Array(values.keys).inByteOrder
            test = .values(texts.compactMap { values[$0] }, acceptsMissing: asksForNone)
        case .atLeast, .atMost:
            let text = given.first ?? ""
            guard let limit = attribute.limit(text, isUpper: condition == .atMost) else {
                throw malformed(text, attribute.form.limitRule)
            }
            texts = [limit.text]
            test = condition == .atLeast ? .atLeast(limit.value) : .atMost(limit.value)
        case .anyOf, .allOf, .noneOf:
            for text in named where !attribute.form.isElement(text) { throw malformed(text, attribute.form.rule) }
            guard condition == .anyOf || !asksForNone else { throw malformed("", attribute.form.rule) }
            texts = given
            test =
                condition == .anyOf
                ? .anyOf(named, acceptsEmpty: asksForNone) : condition == .allOf ? .allOf(named) : .noneOf(named)
        }
    }

    /// Returns whether a value matches.
    package func accepts(_ value: AttributeValue?) -> Bool {
        guard let value else { if case .values(_, true) = test { return true } else { return false } }
        switch test {
        case .values(let wanted, _): return wanted.contains(value)
        case .atLeast(let limit): return !value.isBelow(limit)
        case .atMost(let limit): return !limit.isBelow(value)
        case .anyOf(let wanted, let acceptsEmpty):
            guard case .set(let own) = value else { return false }
            return own.isEmpty ? acceptsEmpty : wanted.contains { Self.has($0, own) }
        case .allOf(let wanted):
            guard case .set(let own) = value else { return false }
            return wanted.allSatisfy { Self.has($0, own) }
        case .noneOf(let wanted):
            guard case .set(let own) = value else { return false }
            return !wanted.contains { Self.has($0, own) }
        }
    }

    private static func has(_ text: String, _ own: [String]) -> Bool {
        own.contains { $0.utf8.elementsEqual(text.utf8) }
    }

    /// Returns whether the end of a range is below its start, as they were given: without a value between them, both may be rounded to values
    /// on the other side.
    func isBelow(_ start: AttributeCondition) -> Bool {
        guard case .atMost(let end) = test, case .atLeast(let first) = start.test else { return false }
        if let end = ExactDecimal(texts[0]), let first = ExactDecimal(start.texts[0]) { return end < first }
        return end.isBelow(first)
    }
}

extension AttributeValue {
    /// Returns whether a number, a day or a ratio is below another one.
    package func isBelow(_ other: AttributeValue) -> Bool {
        switch (self, other) {
        case (.number(let a), .number(let b)): a < b
        case (.date(let a), .date(let b)): a < b
        case (.ratio(let a), .ratio(let b)): a < b
        default: false
        }
    }
}

// MARK: - Texts of values

extension AttributeForm {
    /// The requirement on a value in a filter, for error messages.
    fileprivate var rule: String {
        switch self {
        case .number(let decimals):
            decimals == 0 ? "an integer" : "a number with at most \(decimals) decimal\(decimals == 1 ? "" : "s")"
        case .enumeration: "one of the declared values"
        case .set(let options): options == nil ? "a text, \(Product.tagRule)" : "one of the declared values"
        case .text: "a printable text of 1 to \(AttributeValue.textLimit) bytes"
        case .boolean: "true or false"
        case .date: "a date, such as 2026-03-01"
        case .ratio, .unknown: limitRule
        }
    }

    /// The requirement on the end of a range.
    fileprivate var limitRule: String {
        if case .date = self { return rule }
        return
            "a decimal, such as 4.5, with at most \(decimalsOfLimits) decimals and \(limitDigits) digits before the point"
    }

    /// The allowed values, for error messages; empty if there is no list.
    fileprivate var allowedTexts: [String] { self == .boolean ? ["true", "false"] : options.map(\.key) }

    /// The maximum number of decimals of the end of a range, unless a number has more.
    package static let limitDecimals = 6
    /// The maximum number of decimals of the end of a range of this form: at least those that facets suggest.
    fileprivate var decimalsOfLimits: Int {
        if case .number(let decimals) = self { max(Self.limitDecimals, decimals) } else { Self.limitDecimals }
    }
    /// The maximum number of digits before the point of the end of a range.
    private var limitDigits: Int { if case .ratio = self { 22 } else { 15 } }
    /// The greatest end of a range.
    fileprivate var greatestLimit: ExactDecimal {
        ExactDecimal((0..<limitDigits).reduce(Int128(1)) { power, _ in power * 10 })
    }

    fileprivate func isElement(_ text: String) -> Bool {
        guard case .set(let options) = self else { return false }
        return options?.contains { $0.key.utf8.elementsEqual(text.utf8) } ?? Product.isTag(text)
    }

    /// Reads a value; nil if it does not have the form.
    fileprivate func value(of text: String) -> AttributeValue? {
        switch self {
        case .number(let decimals):
            guard let digits = ExactDecimal(text)?.significand(atScale: decimals),
                digits.magnitude < AttributeValue.numberLimit
            else { return nil }
            return .number(Int64(digits))
        case .enumeration(let options):
            return options.firstIndex { $0.key.utf8.elementsEqual(text.utf8) }.map { .rank($0) }
        case .text:
            let text = text.trimmed
            return (1...AttributeValue.textLimit).contains(text.utf8.count) && text.isPrintable ? .text(text) : nil
        case .boolean: return ["true": .boolean(true), "false": .boolean(false)][text]
        case .date: return AttributeValue.day(text).map { .date($0) }
        case .set, .ratio, .unknown: return nil
        }
    }

    /// Returns the text of a value in filters and facets. Reading it returns an equal value.
    package func text(of value: AttributeValue) -> String {
        switch (self, value) {
        case (.number(let decimals), .number(let digits)): ExactDecimal(Int128(digits), scale: decimals).description
        case (.enumeration(let options), .rank(let rank)): options[rank].key
        case (_, .text(let text)): text
        case (_, .boolean(let flag)): flag ? "true" : "false"
        case (_, .date(let day)): Timestamp.date(ofDay: day)
        default: ""
        }
    }
}

extension AttributeValue {
    /// Reads a date as days since 1970-01-01.
    static func day(_ text: String) -> Int? {
        text.utf8.count == 10 ? Timestamp(rfc3339: text + "T00:00:00Z")?.day : nil
    }
}

extension ResolvedAttribute {
    /// Reads the end of a range; nil if it does not have the form. The text is the given one, in its shortest form. The value of a number with
    /// more decimals than the attribute has is rounded to the range.
    fileprivate func limit(_ text: String, isUpper: Bool) -> (value: AttributeValue, text: String)? {
        if case .date = form { return AttributeValue.day(text).map { (.date($0), Timestamp.date(ofDay: $0)) } }
        guard let limit = ExactDecimal(text), limit.scale <= form.decimalsOfLimits,
            ExactDecimal(limit.significand < 0 ? -limit.significand : limit.significand, scale: limit.scale)
                <= form.greatestLimit
        else { return nil }
        if case .number(let decimals) = form {
            let digits = limit.units(decimals, roundedUp: !isUpper)
            let kept = max(-AttributeValue.numberLimit, min(AttributeValue.numberLimit, Int64(clamping: digits)))
            return (.number(kept), limit.description)
        }
        return fraction(of: limit).map { (.ratio($0), limit.description) }
    }
}

extension ExactDecimal {
    /// Returns the number in units of 10^−scale, rounded to an integer.
    package func units(_ wanted: Int, roundedUp: Bool) -> Int128 {
        if let exact = significand(atScale: wanted) { return exact }
        guard scale > wanted else { return significand < 0 ? .min : .max }
        var divisor: Int128 = 1
        for _ in wanted..<scale { divisor *= 10 }
        let (quotient, remainder) = significand.quotientAndRemainder(dividingBy: divisor)
        if remainder == 0 { return quotient }
        return roundedUp ? quotient + (remainder > 0 ? 1 : 0) : quotient - (remainder < 0 ? 1 : 0)
    }
}

// MARK: - Ratios

extension ResolvedAttribute {
    /// The number of decimals in the operand of a ratio.
    private func decimals(of operand: AttributeRatio.Operand) -> Int {
        switch operand {
        case .price: return 0
        case .quantity: return Size.quantityScale
        case .number(let name):
            guard case .number(let decimals)? = operands.first(where: { $0.name == name })?.form else { return 0 }
            return decimals
        }
    }

    /// The factor by which the fraction of a product's operands becomes the value of the ratio: the scale, and a power of ten.
    ///
    /// The power is between −9 and 23, because a number has at most 9 decimals, and a quantity 14.
    private var factor: (scale: Int128, power: Int) {
        guard case .ratio(let ratio) = form else { return (1, 0) }
        let power = ratio.denominators.reduce(-decimals(of: ratio.numerator)) { $0 + decimals(of: $1) }
        return (Int128(ratio.scale), power)
    }

    /// Returns the fraction of operands whose ratio has a value: below 10³⁸ over at most 10³⁸.
    fileprivate func fraction(of value: ExactDecimal) -> AttributeFraction? {
        let (scale, power) = factor
        let numerator = value.significand * Self.power(max(0, -power))
        return AttributeFraction(numerator, over: Self.power(value.scale) * scale * Self.power(max(0, power)))
    }

    /// Returns a function for the value of a ratio in units of 10^−`limitDecimals`, rounded down to an integer, and whether it is rounded. A
    /// larger value has `AttributeFraction.unitsLimit`.
    package var unitConversion: (AttributeFraction) -> (units: Int128, isRounded: Bool) {
        let (scale, power) = factor
        let decimals = power + AttributeForm.limitDecimals
        let (multiplier, divisor) = (scale * Self.power(max(0, decimals)), Self.power(max(0, -decimals)))
        return { $0.units(multiplier, over: divisor) }
    }

    /// The same, rounded down or up.
    package func units(of fraction: AttributeFraction, roundedUp: Bool) -> Int128 {
        let (down, isRounded) = unitConversion(fraction)
        return roundedUp && isRounded ? down + 1 : down
    }

    private static func power(_ exponent: Int) -> Int128 { (0..<exponent).reduce(1) { power, _ in power * 10 } }
}
