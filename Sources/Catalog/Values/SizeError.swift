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
