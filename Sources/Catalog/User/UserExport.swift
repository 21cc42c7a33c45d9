/// Everything that is stored of a user.
package struct UserExport: Sendable, Hashable {
    /// A manual order that they changed, where that is remembered.
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

    /// What they bought of a product on a UTC day, where they were told as the customer.
    package struct Purchase: Sendable, Hashable {
        package var store: CatalogKey
        package var sku: SKU
        package var day: Int
        package var quantity: Int

        package init(store: CatalogKey, sku: SKU, day: Int, quantity: Int) {
            self.store = store
            self.sku = sku
            self.day = day
            self.quantity = quantity
        }
    }

    package var user: UserID
    package var revision: Int64
    /// By key; deleted ones too, for as long as that is remembered.
    package var settings: [Setting]
    package var orderChanges: [OrderChange]
    package var purchases: [Purchase]
    /// Their own lists and those that they have joined, deleted ones and items too, for as long as that is remembered.
    package var lists: [HeldList]

    package init(
        user: UserID,
        revision: Int64,
        settings: [Setting],
        orderChanges: [OrderChange],
        purchases: [Purchase] = [],
        lists: [HeldList] = []
    ) {
        self.user = user
        self.revision = revision
        self.settings = settings
        self.orderChanges = orderChanges
        self.purchases = purchases
        self.lists = lists
    }

    package var json: [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("user", user.text)
            json.field("revision", revision)
            json.array("settings", settings) { $1.write(to: &$0) }
            json.array("order_changes", orderChanges) { json, change in
                json.object { json in
                    json.field("store", change.store.text)
                    json.field("shelf", change.shelf.text)
                    json.field("kind", change.kind)
                    json.field("changed_at", change.changedAt.rfc3339)
                }
            }
            json.array("purchases", purchases) { json, purchase in
                json.object { json in
                    json.field("store", purchase.store.text)
                    json.field("sku", purchase.sku.text)
                    json.field("day", Timestamp.date(ofDay: purchase.day))
                    json.field("quantity", purchase.quantity)
                }
            }
            json.array("lists", lists) { json, held in
                json.object { json in
                    json.key("list")
                    held.write(to: &json)
                    json.array("items", held.list.items.sorted { $0.key < $1.key }) {
                        $1.write(ListFacts(), withProduct: false, day: 0, to: &$0)
                    }
                }
            }
        }
        return json.bytes
    }
}
