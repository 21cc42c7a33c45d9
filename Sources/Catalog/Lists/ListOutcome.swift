/// The outcome of a list edit.
package struct ListOutcome: Sendable {
    package var membership: ListMembership
    package var facts: ListFacts
    /// The ids of changed items.
    package var changed: Set<UniqueID>
    /// The changed items whose content differs, not only their place.
    package var edited: Set<UniqueID>
    /// The display order before and after the edit.
    package var old: [String]
    package var new: [ListItem]
    package var fromVersion: Int64
    /// Whether a device at `fromVersion` certainly shows `old`: prices, names and shelves may change without the list.
    package var isOldOrderExact: Bool
    /// Items that the edit names and that no longer exist.
    package var missing: [UniqueID]
    /// Items that the edit names; the response includes them even if nothing changed.
    package var requestedIDs: Set<UniqueID>
    /// Whether the list was restored: devices no longer have its data.
    package var isRestored: Bool

    /// - Parameters:
    ///   - before: the list before the change; `membership` has it after the change.
    ///   - facts: the data for both orders and for the items that changed or were named.
    package init(
        of edit: ListEdit,
        _ before: UserList,
        _ membership: ListMembership,
        _ changed: Set<UniqueID>,
        _ facts: ListFacts
    ) {
        self.membership = membership
        missing = edit.missing(in: membership.list)
        requestedIDs = edit.added
        self.changed = changed
        self.facts = facts
        fromVersion = before.version
        isOldOrderExact = before.sort == .position
        isRestored = before.isDeleted && !membership.isDeleted
        let items = Dictionary(membership.list.items.map { ($0.id, $0) }) { a, _ in a }
        let unchangedIDs = before.items.filter { items[$0.id]?.hasSameContent(as: $0) ?? false }.map(\.id)
        edited = changed.subtracting(unchangedIDs)
        old = before.isDeleted ? [] : before.shown(facts).map(\.id.text)
        new = membership.list.isDeleted ? [] : membership.list.shown(facts)
    }

    /// Whether the edit changed the list: it then has a new version.
    package var isChange: Bool { membership.list.version != fromVersion }
}
