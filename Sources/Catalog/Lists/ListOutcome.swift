/// The outcome of a list edit.
package struct ListOutcome: Sendable {
    package var held: HeldList
    package var facts: ListFacts
    /// What changed of it.
    package var changed: Set<UniqueID>
    /// Those of them that are others now, not only elsewhere.
    package var edited: Set<UniqueID>
    /// As it was shown before, and is now.
    package var old: [String]
    package var new: [ListItem]
    package var fromVersion: Int64
    /// Whether a device that has the version before surely shows `old`: prices, names and shelves change without the list.
    package var isOldSure: Bool
    /// Items that were to be changed, and that are not there any more.
    package var missing: [UniqueID]
    /// Items that were named, which are answered as they stand even where nothing changed.
    package var named: Set<UniqueID>
    /// Whether it had been deleted: devices have nothing of it any more.
    package var isBroughtBack: Bool

    /// - Parameters:
    ///   - before: the list before the change, and `held` as it is now.
    ///   - facts: at least those that both orders ask for, and of the items that changed or were named.
    package init(
        of edit: ListEdit,
        _ before: UserList,
        _ held: HeldList,
        _ changed: Set<UniqueID>,
        _ facts: ListFacts
    ) {
        self.held = held
        missing = edit.missing(in: held.list)
        named = edit.added
        self.changed = changed
        self.facts = facts
        fromVersion = before.version
        isOldSure = before.sort == .position
        isBroughtBack = before.isDeleted && !held.isDeleted
        let items = Dictionary(held.list.items.map { ($0.id, $0) }) { a, _ in a }
        let stayed = before.items.filter { items[$0.id]?.isSame(as: $0) ?? false }.map(\.id)
        edited = changed.subtracting(stayed)
        old = before.isDeleted ? [] : before.shown(facts).map(\.id.text)
        new = held.list.isDeleted ? [] : held.list.shown(facts)
    }

    package var isChange: Bool { held.list.version != fromVersion }
}
