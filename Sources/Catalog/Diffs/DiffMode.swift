/// The form of a diff in a response.
package enum DiffMode: String, CaseIterable, Sendable {
    /// The minimal moves.
    case moves
    /// The minimal moves, or the whole order if more than half of the list moves.
    case auto
    /// The whole order.
    case order
}
