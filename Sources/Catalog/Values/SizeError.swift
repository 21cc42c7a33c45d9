/// The reason for rejecting a size.
package enum SizeError: Error, Sendable, Equatable {
    case negative
    case packs
    case outOfRange

    package var reason: String {
        switch self {
        case .negative: "a size must not be negative"
        case .packs: "the number of packs must be between 1 and 1000000"
        case .outOfRange:
            "a size must be between 0.001 and 1000000000 g, ml, m, m², pieces or doses, with at most 14 decimals"
        }
    }
}
