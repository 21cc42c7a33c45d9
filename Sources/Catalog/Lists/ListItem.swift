package import Ordering

/// What stands on a user's list: a product of a store, or free text.
package struct ListItem: Hashable, Sendable {
    /// What devices change independently of each other: of two changes of one field the later wins, and neither touches
    /// another field.
    package enum Field: String, CaseIterable, Sendable, Hashable {
        case text, quantity, note, checked, deleted
    }

    package let id: UniqueID
    package let product: ProductReference?
    /// Free text; of a product, its name when it was put on the list.
    package var text: String
    /// Above 0.
    package var quantity: ExactDecimal
    package var note: String?
    package var isChecked: Bool
    /// Its place in the manual order: as it was added, or moved.
    package var key: PathKey
    package let createdAt: Timestamp
    package var modifiedAt: Timestamp
    /// When it was deleted; it can be brought back for `UserList.tombstoneDays`.
    package var deletedAt: Timestamp?
    /// The list's version when it changed last.
    package var version: Int64
    /// When each field was changed last, on the device where that was; nil for not since it was made.
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

    package static let textLimit = 500
    package static let noteLimit = 1000
    /// Quantities are below this.
    package static let quantityLimit = ExactDecimal(1_000_000)
    package static let quantityScale = 3
}

extension ListItem {
    /// Makes a change, field by field: of two changes of one field the later wins, a tie goes to what stands.
    ///
    /// - Returns: whether anything is another now.
    mutating func apply(_ change: ListItemChange, now: Timestamp) -> Bool {
        let moment = min(change.modifiedAt ?? now, now)
        let before = self
        func wins(_ field: Field) -> Bool {
            change.modifiedAt == nil || changes[field].map { $0 < moment } ?? true
        }
        func note<Value: Equatable>(_ field: Field, _ old: Value, _ new: Value?, _ set: (Value) -> Void) {
            guard let new, wins(field) else { return }
            set(new)
            changes[field] = max(moment, changes[field] ?? moment)
        }
        note(.text, text, change.text) { text = $0 }
        note(.quantity, quantity, change.quantity) { quantity = $0 }
        note(.note, self.note, change.note) { self.note = $0 }
        note(.checked, isChecked, change.isChecked) { isChecked = $0 }
        note(.deleted, isDeleted, change.isDeleted) { deletedAt = $0 ? deletedAt ?? now : nil }
        // What is confirmed stays as it is, but what is older must not win later: its time is kept.
        guard !isSame(as: before) else { return false }
        modifiedAt = now
        return true
    }

    func isSame(as other: ListItem) -> Bool {
        (text, quantity, note, isChecked, isDeleted)
            == (other.text, other.quantity, other.note, other.isChecked, other.isDeleted)
    }
}
