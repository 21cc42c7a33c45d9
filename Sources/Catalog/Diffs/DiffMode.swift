/// How a diff is answered.
package enum DiffMode: String, CaseIterable, Sendable {
    /// The least moves.
    case moves
    /// The least moves, or the order whole when more than half of the list moves.
    case auto
    /// The order whole.
    case order
}
