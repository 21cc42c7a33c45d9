/// The purchases from which popularity is computed.
package protocol PurchaseStore: Sendable {
    /// Adds purchases, each event once. The next re-sort counts them.
    ///
    /// - Throws: `notFound` if there is no such store.
    func add(
        _ purchases: [Purchase],
        to store: CatalogKey,
        once call: IdempotentCall<PurchaseOutcome>?
    ) async throws(CatalogError) -> PurchaseOutcome
}

extension PurchaseStore {
    @discardableResult
    package func add(_ purchases: [Purchase], to store: CatalogKey) async throws(CatalogError) -> PurchaseOutcome {
        try await add(purchases, to: store, once: nil)
    }
}

/// The outcome of adding purchases.
package struct PurchaseOutcome: Sendable, Hashable {
    /// New events of products that the store has.
    package var accepted = 0
    /// Duplicate events; they are not counted again.
    package var repeated = 0
    /// Events older than the retention period. They are rejected, because duplicates could not be detected.
    package var tooOld = 0
    /// Events of unknown products; they are stored separately until the product exists.
    package var unknown = 0
    /// Up to 1,000 of the unknown products.
    package var unknownSKUs: Set<String> = []

    package static let unknownLimit = 1000

    package init() {}

    package static func += (a: inout PurchaseOutcome, b: PurchaseOutcome) {
        a.accepted += b.accepted
        a.repeated += b.repeated
        a.tooOld += b.tooOld
        a.unknown += b.unknown
        if a.unknownSKUs.count < unknownLimit {
            a.unknownSKUs.formUnion(b.unknownSKUs.prefix(unknownLimit - a.unknownSKUs.count))
        }
    }
}
