/// The dimension of a size. The declaration order breaks ties and orders groups on a mixed shelf.
package enum Dimension: String, CaseIterable, Sendable, Hashable, Codable {
    case mass, volume, piece, length, area, dose

    /// The number used in storage and in cursors.
    package var ordinal: Int { Self.allCases.firstIndex(of: self)! }

    /// The group order of a shelf with this comparison dimension: this one first, then the others in declaration order.
    package var groupOrder: [Dimension] { [self] + Self.allCases.filter { $0 != self } }
}
