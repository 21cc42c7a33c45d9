/// The manual orders of shelves.
package protocol ManualOrderStore: Sendable {
    /// Edits a shelf's manual order.
    ///
    /// - Parameter call: nil for a request without an idempotency key.
    /// - Throws: `stale`, `keyReused`, `conflict` (also while the same call is in progress), and as `ManualOrderEdit.check`.
    func editOrder(
        _ request: OrderEditRequest,
        once call: IdempotentCall<ManualOrderOutcome>?
    ) async throws(CatalogError) -> ManualOrderOutcome
    /// Returns the recent changes to a shelf's manual order, the latest first.
    func orderHistory(_ store: CatalogKey, _ shelf: CatalogKey) async throws(CatalogError) -> [OrderChange]
}

extension ManualOrderStore {
    @discardableResult
    package func editOrder(_ request: OrderEditRequest) async throws(CatalogError) -> ManualOrderOutcome {
        try await editOrder(request, once: nil)
    }
}

/// A request to edit a shelf's manual order.
package struct OrderEditRequest: Sendable {
    package var store: CatalogKey
    package var shelf: CatalogKey
    package var edit: ManualOrderEdit
    /// The order versions that are accepted; nil for any.
    package var expected: Set<Int64>?
    /// The user who makes the request, if known.
    package var subject: String?
    /// Whether to report the result without changing anything.
    package var isDryRun: Bool
    /// Whether the response includes indexes, which require a count over the shelf.
    package var wantsIndexes: Bool

    package init(
        store: CatalogKey,
        shelf: CatalogKey,
        edit: ManualOrderEdit,
        expected: Set<Int64>? = nil,
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
