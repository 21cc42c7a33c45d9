internal import Ordering

/// A user's own list, with all that stands on it.
package struct UserList: Hashable, Sendable {
    package var id: UniqueID
    /// Whose it is; others may have joined it.
    package var owner: UserID
    package var name: String
    /// Whether a checked item sinks below those that are not.
    package var autoSort: Bool
    package var sort: ListItemSort
    /// Grows with every change of the list or its items.
    package var version: Int64
    package let createdAt: Timestamp
    package var modifiedAt: Timestamp
    package var deletedAt: Timestamp?
    /// Deleted ones too, for as long as they can be brought back; in any order.
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
    package var standing: [ListItem] { items.filter { !$0.isDeleted } }

    /// The items as they are shown.
    ///
    /// - Parameter sort: nil for the list's own.
    package func shown(_ facts: ListFacts, by sort: ListItemSort? = nil) -> [ListItem] {
        (sort ?? self.sort).order(standing, sinks: autoSort, facts)
    }

    /// The most bytes of a list's name.
    package static let nameLimit = 200
    /// The most lists of a user, without deleted ones.
    package static let countLimit = 500
    /// The most items of a list, without deleted ones; and the most that were deleted and can be brought back.
    package static let itemLimit = 2000
    /// The most lists that a user has in all, with those that can be brought back.
    package static let rememberedLimit = 2000
    /// The most items that are added at once.
    package static let addLimit = 100
    /// How long a list or an item that was deleted can be brought back, in days.
    package static let tombstoneDays = 30
}

extension UserList {
    /// Makes a change, all of it or nothing: the heart of every store of lists. The version grows by one where anything that is
    /// shown changed.
    ///
    /// - Returns: the items that changed; none where only the list itself did.
    /// - Throws: `unprocessable`; `notFound` for a list that is deleted, or a single item that is not there. Of several, those
    ///   that are not there any more are passed over.
    /// - Complexity: O(n log n).
    package mutating func apply(
        _ edit: ListEdit,
        _ facts: ListFacts,
        now: Timestamp
    ) throws(CatalogError) -> Set<UniqueID> {
        var copy = self
        let changed = try copy.make(edit, facts, now)
        guard !changed.isEmpty || !copy.isHeadSame(as: self) else {
            items = copy.items
            return []
        }
        guard copy.version < Int64.max else { throw .fault("list \(id.text) has exhausted its version counter") }
        copy.version += 1
        copy.modifiedAt = max(now, modifiedAt)
        for index in copy.items.indices where changed.contains(copy.items[index].id) {
            copy.items[index].version = copy.version
        }
        self = copy
        return changed
    }

    private func isHeadSame(as other: UserList) -> Bool {
        (name, autoSort, sort, isDeleted) == (other.name, other.autoSort, other.sort, other.isDeleted)
    }

    private mutating func make(
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
        // Behind all, those that were deleted too: they come back to where they stood.
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
        try checkNumber()
        return added
    }

    private mutating func change(_ changes: [ListItemChange], _ now: Timestamp) throws(CatalogError) -> Set<UniqueID> {
        var changed: Set<UniqueID> = []
        for change in changes {
            guard let index = items.firstIndex(where: { $0.id == change.id }) else {
                if changes.count > 1 { continue }
                throw .notFound("item “\(change.id)”")
            }
            // One that is deleted is only ever brought back: what else was changed of it meanwhile is kept for then.
            if items[index].apply(change, now: now) { changed.insert(change.id) }
        }
        try checkNumber()
        forgetOldest()
        return changed
    }

    /// Of deleted items that are too many the oldest are forgotten.
    private mutating func forgetOldest() {
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

    private func checkNumber() throws(CatalogError) {
        guard standing.count <= Self.itemLimit else {
            throw .unprocessable(
                field: "items",
                detail: "a list has at most \(Self.itemLimit) items; delete some that are bought, or begin another list"
            )
        }
    }
}
