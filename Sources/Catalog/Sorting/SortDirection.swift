/// The direction of a sort key.
package enum SortDirection: Sendable, Hashable {
    case ascending, descending

    package var opposite: SortDirection { self == .ascending ? .descending : .ascending }
}
