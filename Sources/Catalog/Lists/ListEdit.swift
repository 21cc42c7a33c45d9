/// A change to a list.
package enum ListEdit: Sendable, Hashable {
    case add([NewListItem])
    /// Changes items, in sequence.
    case change([ListItemChange])
    /// Moves items in the manual order, in sequence.
    case move([OrderMove])
    case set(ListSettings)
}

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

/// A new list.
package struct NewList: Sendable, Hashable {
    package var id: UniqueID
    package var name: String
    package var autoSort: Bool?
    package var sort: ListItemSort

    package init(id: UniqueID = .random(), name: String, autoSort: Bool? = nil, sort: ListItemSort = .position) {
        self.id = id
        self.name = name
        self.autoSort = autoSort
        self.sort = sort
    }
}

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

/// The outcome of moving lists in a user's order.
package struct ListMoveOutcome: Sendable, Hashable {
    package var revision: Int64
    package var moved: [ManualOrderOutcome.Moved]

    package init(revision: Int64, moved: [ManualOrderOutcome.Moved]) {
        self.revision = revision
        self.moved = moved
    }
}
