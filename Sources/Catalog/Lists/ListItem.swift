package import Ordering

/// An item on a user's list: a product of a store, or free text.
package struct ListItem: Hashable, Sendable {
    /// The fields that devices change independently. Of two changes to one field the later wins;
    /// other fields are not affected.
    package enum Field: String, CaseIterable, Sendable, Hashable {
        case text, quantity, note, checked, deleted
    }

    package let id: UniqueID
    package let product: ProductReference?
    /// Free text, or the product's name when it was added.
    package var text: String
    /// Above 0.
    package var quantity: ExactDecimal
    package var note: String?
    package var isChecked: Bool
    /// The ordering key in the manual order.
    package var key: PathKey
    package let createdAt: Timestamp
    package var modifiedAt: Timestamp
    /// When the item was deleted; it can be restored for `UserList.tombstoneDays`.
    package var deletedAt: Timestamp?
    /// The list version at the item's last change.
    package var version: Int64
    /// When each field was last changed, by the device's clock; absent if never changed.
    package var changes: [Field: Timestamp]

    package init(
        id: UniqueID,
        product: ProductReference? = nil,
        text: String,
        quantity: ExactDecimal = ExactDecimal(1),
        note: String? = nil,
        isChecked: Bool = false,
        key: PathKey,
        createdAt: Timestamp,
        modifiedAt: Timestamp,
        deletedAt: Timestamp? = nil,
        version: Int64,
        changes: [Field: Timestamp] = [:]
    ) {
        self.id = id
        self.product = product
        self.text = text
        self.quantity = quantity
        self.note = note
        self.isChecked = isChecked
        self.key = key
        self.createdAt = createdAt
        self.modifiedAt = modifiedAt
        self.deletedAt = deletedAt
        self.version = version
        self.changes = changes
    }

    package var isDeleted: Bool { deletedAt != nil }

    /// The maximum length of the text, in bytes.
    package static let textLimit = 500
    /// The maximum length of the note, in bytes.
    package static let noteLimit = 1000
    /// The exclusive upper limit of a quantity.
    package static let quantityLimit = ExactDecimal(1_000_000)
    package static let quantityScale = 3
}

extension ListItem {
    /// Applies a change field by field. The later of two changes to a field wins; a tie keeps the current value.
    ///
    /// - Returns: whether anything changed.
    mutating func apply(_ change: ListItemChange, now: Timestamp) -> Bool {
        let moment = min(change.modifiedAt ?? now, now)
        let before = self
        func wins(_ field: Field) -> Bool {
            change.modifiedAt == nil || changes[field].map { $0 < moment } ?? true
        }
        func update<Value: Equatable>(_ field: Field, _ old: Value, _ new: Value?, _ set: (Value) -> Void) {
            guard let new, wins(field) else { return }
            set(new)
            changes[field] = max(moment, changes[field] ?? moment)
        }
        update(.text, text, change.text) { text = $0 }
        update(.quantity, quantity, change.quantity) { quantity = $0 }
        update(.note, self.note, change.note) { self.note = $0 }
        update(.checked, isChecked, change.isChecked) { isChecked = $0 }
        update(.deleted, isDeleted, change.isDeleted) { deletedAt = $0 ? deletedAt ?? now : nil }
        // An unchanged value still records its time, so that an older change cannot win later.
        guard !hasSameContent(as: before) else { return false }
        modifiedAt = now
        return true
    }

    func hasSameContent(as other: ListItem) -> Bool {
        (text, quantity, note, isChecked, isDeleted)
            == (other.text, other.quantity, other.note, other.isChecked, other.isDeleted)
    }
}

/// A reference to a product of any store.
package struct ProductReference: Hashable, Sendable {
    package var store: CatalogKey
    package var sku: SKU

    package init(_ store: CatalogKey, _ sku: SKU) {
        self.store = store
        self.sku = sku
    }
}
