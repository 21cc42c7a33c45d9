/// The source of a response's filter.
package enum FilterSource: String, CaseIterable, Sendable, Hashable {
    case query, user
}
