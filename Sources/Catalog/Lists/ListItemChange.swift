/// A change of a list item.
package struct ListItemChange: Hashable, Sendable {
    package var id: UniqueID
    package var text: String?
    package var quantity: ExactDecimal?
    /// nil leaves it as it is; a nil inside takes it away.
    package var note: String??
    package var isChecked: Bool?
    package var isDeleted: Bool?
    /// When it was changed on a device; nil for now. One in the future counts as now.
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
