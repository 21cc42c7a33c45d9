package import Ordering

/// A list as one of its users has it.
package struct HeldList: Sendable, Hashable {
    package var list: UserList
    package var role: ListRole
    /// Its place in the user's own order of lists.
    package var key: PathKey
    /// The user's revision when it changed last for them.
    package var revision: Int64
    /// When they left it, or it was taken from them; as deleted to them.
    package var leftAt: Timestamp?

    package init(list: UserList, role: ListRole, key: PathKey, revision: Int64, leftAt: Timestamp? = nil) {
        self.list = list
        self.role = role
        self.key = key
        self.revision = revision
        self.leftAt = leftAt
    }

    package var isDeleted: Bool { leftAt != nil || list.isDeleted }

    /// One of which only that it was left is known: its owner is gone.
    package static func gone(
        _ id: UniqueID,
        _ role: ListRole,
        _ key: PathKey,
        _ revision: Int64,
        leftAt: Timestamp
    ) -> HeldList {
        let list = UserList(
            id: id,
            owner: UserID("nobody")!,
            name: "",
            createdAt: leftAt,
            modifiedAt: leftAt,
            deletedAt: leftAt
        )
        return HeldList(list: list, role: role, key: key, revision: revision, leftAt: leftAt)
    }
}

/// A user's lists, without their items.
package struct ListsPage: Sendable, Hashable {
    /// As one of them is told: the numbers stand for the items.
    package struct Entry: Sendable, Hashable {
        package var held: HeldList
        package var items: Int
        package var checked: Int

        package init(held: HeldList, items: Int, checked: Int) {
            self.held = held
            self.items = items
            self.checked = checked
        }
    }

    package var entries: [Entry]
    /// The user's, to ask from next.
    package var revision: Int64
    /// Whether the reader must forget what it has: this is everything.
    package var isResync: Bool
    /// What they are sorted by; nil for those that changed, by revision.
    package var sort: ListSort?
    /// With those that changed: all that stand, in the user's own order.
    package var order: [UniqueID]?

    package init(entries: [Entry], revision: Int64, isResync: Bool) {
        self.entries = entries
        self.revision = revision
        self.isResync = isResync
    }

    /// The same in the order of a sort; ties by the user's own order.
    ///
    /// - Parameter ranks: the places of the names in the catalog's collation.
    package func sorted(by sort: ListSort, _ ranks: [String: Int]) -> ListsPage {
        var page = self
        page.sort = sort
        page.entries.sort { a, b in
            let (x, y) = (a.held, b.held)
            switch sort {
            case .name:
                let (m, n) = (ranks[x.list.name] ?? 0, ranks[y.list.name] ?? 0)
                if m != n { return m < n }
            case .lastModified:
                if x.list.modifiedAt != y.list.modifiedAt { return x.list.modifiedAt > y.list.modifiedAt }
            case .manual: break
            }
            return x.key < y.key
        }
        return page
    }
}

/// What became of a list by a change.
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
