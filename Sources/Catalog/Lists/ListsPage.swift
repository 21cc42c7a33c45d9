internal import Ordering

/// A user's lists, without their items.
package struct ListsPage: Sendable, Hashable {
    /// A list with the number of its items.
    package struct Entry: Sendable, Hashable {
        package var membership: ListMembership
        /// The number of items.
        package var items: Int
        /// The number of checked items.
        package var checked: Int

        package init(membership: ListMembership, items: Int, checked: Int) {
            self.membership = membership
            self.items = items
            self.checked = checked
        }
    }

    package var entries: [Entry]
    /// The user's revision, for the next `since`.
    package var revision: Int64
    /// Whether this is a full resync: the client must discard its local lists.
    package var isResync: Bool
    /// The sort of the lists; nil for changed lists, which are ordered by revision.
    package var sort: ListSort?
    /// In a page of changes, the ids of all current lists in the user's order.
    package var order: [UniqueID]?

    package init(entries: [Entry], revision: Int64, isResync: Bool) {
        self.entries = entries
        self.revision = revision
        self.isResync = isResync
    }

    /// Returns the page in the order of a sort; ties are broken by the user's order.
    ///
    /// - Parameter ranks: the rank of each name in `Store.languageOfNoStore`.
    package func sorted(by sort: ListSort, _ ranks: [String: Int]) -> ListsPage {
        var page = self
        page.sort = sort
        page.entries.sort { a, b in
            let (x, y) = (a.membership, b.membership)
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
