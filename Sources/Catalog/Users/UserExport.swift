/// All data stored about a user.
package struct UserExport: Sendable, Hashable {
    /// A recorded change to a manual order by the user.
    package struct OrderChange: Sendable, Hashable {
        package var store: CatalogKey
        package var shelf: CatalogKey
        package var kind: String
        package var changedAt: Timestamp

        package init(store: CatalogKey, shelf: CatalogKey, kind: String, changedAt: Timestamp) {
            self.store = store
            self.shelf = shelf
            self.kind = kind
            self.changedAt = changedAt
        }
    }

    /// The user's purchases of a product on a UTC day, if the user was the reported customer.
    package struct Purchase: Sendable, Hashable {
        package var store: CatalogKey
        package var sku: SKU
        package var day: Int
        package var quantity: ExactDecimal

        package init(store: CatalogKey, sku: SKU, day: Int, quantity: ExactDecimal) {
            self.store = store
            self.sku = sku
            self.day = day
            self.quantity = quantity
        }
    }

    package var user: UserID
    package var revision: Int64
    /// The settings by key, including tombstones.
    package var settings: [Setting]
    package var orderChanges: [OrderChange]
    package var purchases: [Purchase]
    /// Own and joined lists, including deleted lists and items that are still kept.
    package var lists: [ListMembership]
    /// The user's audit log, the oldest entry first.
    package var audit: [AuditEntry]

    package init(
        user: UserID,
        revision: Int64,
        settings: [Setting],
        orderChanges: [OrderChange],
        purchases: [Purchase] = [],
        lists: [ListMembership] = [],
        audit: [AuditEntry] = []
    ) {
        self.user = user
        self.revision = revision
        self.settings = settings
        self.orderChanges = orderChanges
        self.purchases = purchases
        self.lists = lists
        self.audit = audit
    }
}
