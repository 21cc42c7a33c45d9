internal import Catalog
internal import Crypto
internal import LibPQ

/// A purchase as it is stored, with a hash of the customer.
struct StoredPurchase: Sendable {
    /// The event's UUID in lower case; empty if it does not matter.
    var event = ""
    let sku: String
    /// Days since 1970-01-01.
    let day: Int64
    /// Empty for an unknown customer.
    let customer: [UInt8]
    let quantity: Int64

    /// - Parameter key: the key of customers' hashes.
    init(_ purchase: Purchase, _ key: SymmetricKey) {
        event = purchase.eventID
        sku = purchase.sku.text
        day = Int64(purchase.at.day)
        customer = purchase.customer.map { CustomerHashes.hash($0, key) } ?? []
        quantity = Int64(purchase.quantity)
    }

    /// Reads a row of `PurchaseStatements.takeStrays`.
    init(_ row: borrowing PostgresRow) throws {
        sku = try row.text(0)
        day = Int64(try row.int4(1))
        customer = try row.bytea(2)
        quantity = Int64(try row.int4(3))
    }

    /// Adds purchases of a store to the inbox.
    ///
    /// - Parameter cell: the first open cell.
    static func addToInbox(
        _ purchases: [StoredPurchase],
        _ storeID: Int32,
        _ cell: Int32,
        _ connection: isolated PostgresConnection
    ) throws {
        guard !purchases.isEmpty else { return }
        try connection.execute(PurchaseStatements.addToInbox, [.int4(storeID), .int4(cell)] + columns(purchases))
    }

    /// Returns the SKUs, days, customers and quantities of purchases as parameters.
    static func columns(_ purchases: [StoredPurchase]) -> [PostgresValue] {
        [
            .textArray(purchases.map(\.sku)), .int8Array(purchases.map(\.day)), .byteaArray(purchases.map(\.customer)),
            .int8Array(purchases.map(\.quantity)),
        ]
    }
}
