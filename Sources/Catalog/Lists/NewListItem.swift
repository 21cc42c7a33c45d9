/// A new list item.
package struct NewListItem: Hashable, Sendable {
    /// The id chosen by the device; an existing item is not added again.
    package var id: UniqueID
    package var product: ProductReference?
    /// nil for a product: its name is used.
    package var text: String?
    package var quantity: ExactDecimal
    package var note: String?
    package var isChecked: Bool

    package init(
        id: UniqueID = .random(),
        product: ProductReference? = nil,
        text: String? = nil,
        quantity: ExactDecimal = ExactDecimal(1),
        note: String? = nil,
        isChecked: Bool = false
    ) {
        self.id = id
        self.product = product
        self.text = text
        self.quantity = quantity
        self.note = note
        self.isChecked = isChecked
    }
}
