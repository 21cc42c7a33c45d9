internal import Ordering

/// A user's list with its items.
package struct UserList: Hashable, Sendable {
    package var id: UniqueID
    /// The user who owns the list; others may be members.
    package var owner: UserID
    package var name: String
    /// Whether checked items are shown after unchecked ones.
    package var autoSort: Bool
    package var sort: ListItemSort
    /// A counter that grows with every change to the list or its items.
    package var version: Int64
    package let createdAt: Timestamp
    package var modifiedAt: Timestamp
    package var deletedAt: Timestamp?
    /// All items, including deleted ones that can be restored; in any order.
    package var items: [ListItem]

    package init(
        id: UniqueID,
        owner: UserID,
        name: String,
        autoSort: Bool = true,
        sort: ListItemSort = .position,
        version: Int64 = 1,
        createdAt: Timestamp,
        modifiedAt: Timestamp,
        deletedAt: Timestamp? = nil,
        items: [ListItem] = []
    ) {
        self.id = id
        self.owner = owner
        self.name = name
        self.autoSort = autoSort
        self.sort = sort
        self.version = version
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
        self.deletedAt = deletedAt
        self.items = items
    }

    package var isDeleted: Bool { deletedAt != nil }
    package var currentItems: [ListItem] { items.filter { !$0.isDeleted } }

    /// Returns the items in display order.
    ///
    /// - Parameter sort: nil for the list's own.
    package func shown(_ facts: ListFacts, by sort: ListItemSort? = nil) -> [ListItem] {
        (sort ?? self.sort).order(currentItems, sinks: autoSort, facts)
    }

    /// The maximum length of a list's name, in bytes.
    package static let nameLimit = 200
    /// The maximum number of lists per user, not counting deleted ones.
    package static let countLimit = 500
    /// The maximum number of items per list; also the maximum number of deleted items that can be restored.
    package static let itemLimit = 2000
    /// The maximum number of lists per user, including deleted ones that can be restored.
    package static let totalCountLimit = 2000
    /// The maximum number of items of all lists of a user, including recently deleted ones.
    package static let allItemsLimit = 20_000
    /// The maximum number of items per addition.
    package static let addLimit = 100
    /// How long a deleted list or item can be restored, in days.
    package static let tombstoneDays = 30
}

extension UserList {
    /// Applies an edit atomically; every list store uses it. The version grows, at least to the current time in
    /// microseconds, if anything visible changed.
    ///
    /// - Returns: the changed items; empty if only the list's own settings changed.
    /// - Throws: `unprocessable`; `notFound` for a deleted list or a single missing item. If several items are
    ///   named, missing ones are skipped.
    /// - Complexity: O(n log n).
    package mutating func apply(
        _ edit: ListEdit,
        _ facts: ListFacts,
        now: Timestamp
    ) throws(CatalogError) -> Set<UniqueID> {
        var copy = self
        let changed = try copy.perform(edit, facts, now)
        guard !changed.isEmpty || !copy.hasSameSettings(as: self) else {
            items = copy.items
            return []
        }
        guard copy.version < Int64.max else { throw .fault("list \(id.text) has exhausted its version counter") }
        copy.version = max(copy.version + 1, now.microseconds)
        copy.modifiedAt = max(now, modifiedAt)
        for index in copy.items.indices where changed.contains(copy.items[index].id) {
            copy.items[index].version = copy.version
        }
        self = copy
        return changed
    }

    private func hasSameSettings(as other: UserList) -> Bool {
        (name, autoSort, sort, isDeleted) == (other.name, other.autoSort, other.sort, other.isDeleted)
    }

    private mutating func perform(
        _ edit: ListEdit,
        _ facts: ListFacts,
        _ now: Timestamp
    ) throws(CatalogError) -> Set<UniqueID> {
        if case .set(let settings) = edit {
            set(settings, now)
            return []
        }
        guard !isDeleted else { throw .notFound("list “\(id)”") }
        switch edit {
        case .add(let new): return try add(new, facts, now)
        case .change(let changes): return try change(changes, now)
        case .move(let moves): return try move(moves, now)
        case .set: return []
        }
    }

    private mutating func set(_ settings: ListSettings, _ now: Timestamp) {
        name = settings.name ?? name
        autoSort = settings.autoSort ?? autoSort
        sort = settings.sort ?? sort
        if let isDeleted = settings.isDeleted { deletedAt = isDeleted ? deletedAt ?? now : nil }
    }

    private mutating func add(
        _ new: [NewListItem],
        _ facts: ListFacts,
        _ now: Timestamp
    ) throws(CatalogError) -> Set<UniqueID> {
        var added: Set<UniqueID> = []
        let known = Set(items.map(\.id))
        // Append after all items, deleted ones included: a restored item returns to its place.
        var last = items.map(\.key).max()
        for item in new where !known.contains(item.id) && !added.contains(item.id) {
            if let product = item.product, facts.products[product] == nil {
                throw .unprocessable(field: "sku", detail: "store “\(product.store)” has no product “\(product.sku)”")
            }
            let key = PathKey.appending(1, after: last)[0]
            last = key
            items.append(
                ListItem(
                    id: item.id,
                    product: item.product,
                    text: item.text ?? item.product.flatMap { facts.products[$0]?.product.name } ?? "",
                    quantity: item.quantity,
                    note: item.note,
                    isChecked: item.isChecked,
                    key: key,
                    createdAt: now,
                    modifiedAt: now,
                    version: version
                )
            )
            added.insert(item.id)
        }
        try checkItemCount()
        return added
    }

    private mutating func change(_ changes: [ListItemChange], _ now: Timestamp) throws(CatalogError) -> Set<UniqueID> {
        var changed: Set<UniqueID> = []
        for change in changes {
            guard let index = items.firstIndex(where: { $0.id == change.id }) else {
                if changes.count > 1 { continue }
                throw .notFound("item “\(change.id)”")
            }
            // Changes to a deleted item are applied too; they show once it is restored.
            if items[index].apply(change, now: now) { changed.insert(change.id) }
        }
        try checkItemCount()
        purgeOldestDeleted()
        return changed
    }

    /// Purges the oldest deleted items above the limit.
    private mutating func purgeOldestDeleted() {
        let deleted = items.filter(\.isDeleted).sorted { ($0.deletedAt!, $0.id) < ($1.deletedAt!, $1.id) }
        let surplus = Set(deleted.dropLast(Self.itemLimit).map(\.id))
        if !surplus.isEmpty { items.removeAll { surplus.contains($0.id) } }
    }

    private mutating func move(_ moves: [OrderMove], _ now: Timestamp) throws(CatalogError) -> Set<UniqueID> {
        var list = PositionList(items.map { .init(id: $0.id.text, key: $0.key, isRemoved: $0.isDeleted) })
        let keys = Dictionary(uniqueKeysWithValues: try list.renumber(by: moves).map { ($0.id, $0.key) })
        var changed: Set<UniqueID> = []
        for index in items.indices {
            guard let key = keys[items[index].id.text], key != items[index].key else { continue }
            items[index].key = key
            items[index].modifiedAt = now
            changed.insert(items[index].id)
        }
        return changed
    }

    private func checkItemCount() throws(CatalogError) {
        guard currentItems.count <= Self.itemLimit else {
            throw .unprocessable(
                field: "items",
                detail: "a list can have at most \(Self.itemLimit) items; delete bought items, or start another list"
            )
        }
    }
}
