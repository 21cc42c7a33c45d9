/// What a client asks to change of a shelf's manual order.
package struct OrderEditRequest: Sendable {
    package var store: CatalogKey
    package var shelf: CatalogKey
    package var edit: OrderEdit
    /// The order version that the shelf must still have, where it matters.
    package var expected: Int64?
    /// Who asks, where that is known.
    package var subject: String?
    /// Reports what would be done.
    package var isDryRun: Bool
    /// Whether the answer has indexes, which cost a count over the shelf.
    package var wantsIndexes: Bool

    package init(
        store: CatalogKey,
        shelf: CatalogKey,
        edit: OrderEdit,
        expected: Int64? = nil,
        subject: String? = nil,
        isDryRun: Bool = false,
        wantsIndexes: Bool = false
    ) {
        self.store = store
        self.shelf = shelf
        self.edit = edit
        self.expected = expected
        self.subject = subject
        self.isDryRun = isDryRun
        self.wantsIndexes = wantsIndexes
    }
}
