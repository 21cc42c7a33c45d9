/// The pages and full orders of shelves.
package protocol PageStore: Sendable {
    /// Returns the basis of a page from its last read, which may be outdated; nil if unknown.
    ///
    /// This reads nothing from the database. A page planned from it is verified when it is read.
    func likelyBasis(of request: PageRequest) -> PageBasis?
    /// Returns the current basis of a page.
    ///
    /// - Parameter likely: a basis that may be outdated; to confirm it costs less than to read another one.
    /// - Throws: `notFound` for the store or the shelf.
    func basis(of request: PageRequest, likely: PageBasis?) async throws(CatalogError) -> PageBasis
    /// Reads a page and its basis in one snapshot.
    ///
    /// - Parameters:
    ///   - likely: a plan that may be outdated; the page is then planned again. nil to plan it here.
    ///   - items: creates an empty collection of products, for each attempt to read them.
    /// - Throws: `notFound`, and as `PageRequest.plan`.
    func page<Items: PageItems>(
        _ request: PageRequest,
        likely: PlannedPage?,
        into items: @escaping @Sendable (PlannedPage) -> Items
    ) async throws(CatalogError) -> PageOf<Items>
    /// Reads the ids of all products that a view shows, in order.
    func order(_ request: OrderRequest) async throws(CatalogError) -> ShelfOrder
    /// Reads the ids that several views of a shelf show, in order, from one snapshot.
    func orders(_ address: ShelfAddress, _ views: [ShelfView]) async throws(CatalogError) -> [ShelfOrder]
}

extension PageStore {
    package func basis(of request: PageRequest) async throws(CatalogError) -> PageBasis {
        try await basis(of: request, likely: nil)
    }

    package func page(_ request: PageRequest) async throws(CatalogError) -> ShelfPage {
        try await page(request, likely: nil) { _ in [] }
    }

    package func order(
        _ store: CatalogKey,
        _ shelf: CatalogKey,
        _ sort: Sort?,
        filter: Filter? = nil
    ) async throws(CatalogError) -> ShelfOrder {
        let view = ShelfView(sort: sort, filter: filter)
        return try await order(OrderRequest(address: ShelfAddress(store, shelf), view: view))
    }
}
