/// The source of a response's sort.
package enum SortSource: String, CaseIterable, Sendable, Hashable {
    case query, user, shelf, store, system
}
