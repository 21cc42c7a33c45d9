/// A change to a list item.
package struct ListItemChange: Hashable, Sendable {
    package var id: UniqueID
    package var text: String?
    package var quantity: ExactDecimal?
    /// nil keeps the note; a nested nil removes it.
    package var note: String??
    package var isChecked: Bool?
    package var isDeleted: Bool?
    /// When the change was made on a device; nil for now. A future time counts as now.
    package var modifiedAt: Timestamp?

    package init(
        _ id: UniqueID,
        text: String? = nil,
        quantity: ExactDecimal? = nil,
        note: String?? = nil,
        isChecked: Bool? = nil,
        isDeleted: Bool? = nil,
        modifiedAt: Timestamp? = nil
    ) {
        self.id = id
        self.text = text
        self.quantity = quantity
        self.note = note
        self.isChecked = isChecked
        self.isDeleted = isDeleted
        self.modifiedAt = modifiedAt
    }
}
