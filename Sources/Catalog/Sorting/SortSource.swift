/// Who decided the sort of an answer.
package enum SortSource: String, CaseIterable, Sendable, Hashable {
    case query, user, shelf, store, system
}
