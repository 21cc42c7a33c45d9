/// A new item of a list.
package struct NewListItem: Hashable, Sendable {
    /// Made by the device; an item that is there already is not added again.
    package var id: UniqueID
    package var product: ProductReference?
    /// nil of a product: its name.
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
