/// The size of a product: an exact amount of a unit, times a number of packs.
package struct Size: Hashable, Sendable {
    /// The amount per pack; above zero.
    package let amount: ExactDecimal
    package let unit: MeasureUnit
    /// The number of packs; 1 for a single pack.
    package let packs: Int
    /// The drained amount per pack, in the same unit; if set, it counts instead of `amount`.
    package let drained: ExactDecimal?
    /// Whether the source said "about".
    package let isApproximate: Bool
    /// `packs × (drained or amount) × factor(unit)`, in the base unit of the dimension.
    package let baseQuantity: ExactDecimal

    /// The range in which different unit prices always have different stored keys.
    package static let quantityRange = ExactDecimal(1, scale: 3)...ExactDecimal(1_000_000_000)
    package static let quantityScale = 14
    package static let packRange = 1...1_000_000

    /// - Throws: `SizeError` for a negative number or a quantity out of range.
    /// - Returns: nil for an amount of zero, which means no size.
    package init?(
        amount: ExactDecimal,
        unit: MeasureUnit,
        packs: Int = 1,
        drained: ExactDecimal? = nil,
        isApproximate: Bool = false
    ) throws(SizeError) {
        guard !amount.isNegative, !(drained?.isNegative ?? false) else { throw .negative }
        guard Self.packRange.contains(packs) else { throw .packs }
        guard !amount.isZero else { return nil }
        let drained = drained.flatMap { $0.isZero ? nil : $0 }
        guard
            let quantity = (drained ?? amount).multiplied(by: unit.factor)?.multiplied(by: ExactDecimal(Int128(packs))),
            quantity.scale <= Self.quantityScale, Self.quantityRange.contains(quantity)
        else { throw .outOfRange }
        self.amount = amount
        self.unit = unit
        self.packs = packs
        self.drained = drained
        self.isApproximate = isApproximate
        self.baseQuantity = quantity
    }
}

/// The reason for rejecting a size.
package enum SizeError: Error, Sendable, Equatable {
    case negative
    case packs
    case outOfRange

    package var reason: String {
        switch self {
        case .negative: "a size must not be negative"
        case .packs: "the number of packs must be between \(Size.packRange.lowerBound) and \(Size.packRange.upperBound)"
        case .outOfRange:
            "a size must be between \(Size.quantityRange.lowerBound) and \(Size.quantityRange.upperBound) g, ml, m, m², "
                + "pieces or doses, with at most \(Size.quantityScale) decimals"
        }
    }
}

/// The dimension of a size. The declaration order breaks ties and orders groups on a mixed shelf.
package enum Dimension: String, CaseIterable, Sendable, Hashable, Codable {
    case mass, volume, piece, length, area, dose

    /// The number used in storage and in cursors.
    package var ordinal: Int { Self.allCases.firstIndex(of: self)! }

    /// The group order of a shelf with this comparison dimension: this one first, then the others in declaration order.
    package var groupOrder: [Dimension] { [self] + Self.allCases.filter { $0 != self } }
}
