/// What somebody may do with a list.
package enum ListRole: String, CaseIterable, Sendable, Hashable {
    case owner, editor, reader

    package var mayEdit: Bool { self != .reader }

    /// The roles that a share gives.
    package static let shared: [ListRole] = [.editor, .reader]
}
