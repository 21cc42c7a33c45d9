/// What a size measures. The order is that of ties and of groups on a mixed shelf.
package enum Dimension: String, CaseIterable, Sendable, Hashable, Codable {
    case mass, volume, piece, length, area, dose

    /// The number under which it is stored and stands in cursors.
    package var ordinal: Int { Self.allCases.firstIndex(of: self)! }

    /// The dimensions in the order of a shelf that compares by this one: it first, the others in their fixed order.
    package var groupOrder: [Dimension] { [self] + Self.allCases.filter { $0 != self } }
}
