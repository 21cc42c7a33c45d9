/// What a user's lists are sorted by.
package enum ListSort: String, CaseIterable, Sendable, Hashable {
    /// The latest first.
    case lastModified = "last-modified"
    case name
    /// As the user moved them; as they were made.
    case manual
}
