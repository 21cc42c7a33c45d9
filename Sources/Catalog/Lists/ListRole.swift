/// A user's permissions on a list.
package enum ListRole: String, CaseIterable, Sendable, Hashable {
    case owner, editor, reader

    package var mayEdit: Bool { self != .reader }

    /// The roles that a share can grant.
    package static let shared: [ListRole] = [.editor, .reader]
}
