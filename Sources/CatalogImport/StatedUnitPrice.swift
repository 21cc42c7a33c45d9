internal import Catalog

/// The unit price that a row states, such as `3.30` or `3,30 €/kg`.
struct StatedUnitPrice {
    let text: String
    /// In the currency.
    private let amount: ExactDecimal
    /// One in the last digit that the text states, such as 0.01 for `2.50`.
    private let step: ExactDecimal
    /// Nil if the text does not name it; then it is the usual one of a size's dimension.
    private let reference: (quantity: ExactDecimal, dimension: Dimension)?
    /// The prices that it may belong to, in the currency.
    private let prices: [ExactDecimal]
    private let pricing: UnitPricing

    /// - Parameters:
    ///   - prices: the product's prices in minor units.
    ///   - read: reads an amount of money; nil for another text.
    /// - Returns: nil if the text is not a unit price.
    init?(
        _ text: String,
        of prices: [Int64],
        in currency: Currency,
        _ context: SizeText.Context,
        _ read: (String) -> ExactDecimal?
    ) {
        self.text = text
        pricing = context.pricing
        self.prices = prices.map { ExactDecimal(Int128($0), scale: currency.exponent) }
        let parts = text.split(separator: "/", maxSplits: 1).map { String($0).trimmed }
        guard let first = parts.first, let amount = read(first), !amount.isZero, !amount.isNegative, !prices.isEmpty
        else { return nil }
        self.amount = amount
        let decimals =
            switch PriceText(first)?.form {
            case .decimals(_, let count): count
            // The mark precedes decimals if the amount is below the number without a mark.
            case .ambiguous: amount < ExactDecimal(1000) ? 3 : 0
            case .whole, nil: 0
            }
        step = ExactDecimal(1, scale: max(amount.scale, decimals))
        if parts.count == 2 {
            guard let size = Self.size(parts[1], context) else { return nil }
            reference = (size.baseQuantity, size.unit.dimension)
        } else {
            reference = nil
        }
    }

    private static func size(_ text: String, _ context: SizeText.Context) -> Size? {
        if let unit = SizeText.unit(text, in: context) { return try? Size(amount: ExactDecimal(1), unit: unit) }
        return SizeText.parse(text, in: context)
    }

    /// Whether a size leads to the unit price, up to its last digit or 1 %: chains round it from prices that they do not state.
    ///
    /// - Returns: nil if they do not compare: the unit price is that of another dimension, or may be that of a piece.
    func agrees(with size: Size) -> Bool? {
        let references: [ExactDecimal]
        if let stated = reference {
            guard stated.dimension == size.unit.dimension else { return nil }
            references = [stated.quantity]
        } else {
            let dimension = size.unit.dimension
            references = [Self.usualReference(dimension), pricing.reference(for: dimension).quantity]
        }
        guard let percent = amount.multiplied(by: ExactDecimal(1, scale: 2)) else { return nil }
        let tolerance = max(step, percent)
        guard let opposite = tolerance.multiplied(by: ExactDecimal(-1)),
            let lower = amount.adding(opposite)?.multiplied(by: size.baseQuantity),
            let upper = amount.adding(tolerance)?.multiplied(by: size.baseQuantity)
        else { return nil }
        for price in prices {
            for reference in references {
                guard let product = price.multiplied(by: reference) else { return nil }
                if (lower...upper).contains(product) { return true }
            }
        }
        // Price lists may state the price of a piece instead.
        if reference == nil, prices.contains(amount) { return nil }
        return false
    }

    /// The size that the unit price leads to, in whole base units; nil if the text does not name its quantity.
    var size: Size? {
        guard let reference, let price = prices.first, !price.isZero,
            let dividend = price.multiplied(by: reference.quantity)
        else { return nil }
        let scale = max(dividend.scale, amount.scale)
        guard let top = dividend.significand(atScale: scale), let bottom = amount.significand(atScale: scale) else {
            return nil
        }
        // Rounded half up.
        let (whole, remainder) = top.quotientAndRemainder(dividingBy: bottom)
        let quantity = remainder >= bottom - remainder ? whole + 1 : whole
        guard quantity > 0 else { return nil }
        return try? Size(
            amount: ExactDecimal(quantity),
            unit: Self.baseUnit(reference.dimension),
            isApproximate: true
        )
    }

    private static func usualReference(_ dimension: Dimension) -> ExactDecimal {
        dimension == .mass || dimension == .volume ? ExactDecimal(1000) : ExactDecimal(1)
    }

    private static func baseUnit(_ dimension: Dimension) -> MeasureUnit {
        switch dimension {
        case .mass: .g
        case .volume: .ml
        case .piece: .piece
        case .length: .m
        case .area: .m2
        case .dose: .dose
        }
    }
}
