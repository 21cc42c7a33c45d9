/// Where the sort of a response came from.
package enum SortSource: String, CaseIterable, Sendable, Hashable {
    case query, user, shelf, store, system
}
