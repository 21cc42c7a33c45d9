/// Who decided what an answer is narrowed down by.
package enum FilterSource: String, CaseIterable, Sendable, Hashable {
    case query, user
}
