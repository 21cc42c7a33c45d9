/// The sort of a user's lists.
package enum ListSort: String, CaseIterable, Sendable, Hashable {
    /// The latest first.
    case lastModified = "last-modified"
    case name
    /// The user's manual order; new lists in creation order.
    case manual
}
