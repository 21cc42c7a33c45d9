internal import Ordering

/// A user's lists, without their items.
package struct ListsPage: Sendable, Hashable {
    /// The edit as an event: numbers stand for the items.
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
