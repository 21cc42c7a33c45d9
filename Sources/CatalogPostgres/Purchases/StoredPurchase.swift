internal import Catalog
internal import Crypto
internal import LibPQ

/// A purchase as it is stored, with a hash of the customer.
struct StoredPurchase: Sendable {
    /// The UUID of the event in lower case; empty if it does not matter.
    var event = ""
    let sku: String
    /// Days since 1970-01-01.
    let day: Int64
    /// Empty for an unknown customer.
    let customer: [UInt8]
    let quantity: ExactDecimal

    /// - Parameter key: the key of customers' hashes.
    init(_ purchase: Purchase, _ key: SymmetricKey) {
        event = Self.uuid(ofEvent: purchase.eventID)
        sku = purchase.sku.text
        day = Int64(purchase.at.day)
        customer = purchase.customer.map { CustomerHashes.hash($0, key) } ?? []
        quantity = purchase.quantity
    }

    /// Returns the UUID under which an event is stored: its id, or a hash if the id is not a UUID. The hash has version 8, so it
    /// differs from the UUIDs that clients generate.
    private static func uuid(ofEvent id: String) -> String {
        (UniqueID(id) ?? .custom(Array(SHA256.hash(data: Array(id.utf8)).prefix(16)))).text
    }

    /// Reads a row of `PurchaseStatements.takeStrays`.
    init(_ row: borrowing PostgresRow) throws {
        sku = try row.text(0)
        day = Int64(try row.int4(1))
        customer = try row.bytea(2)
        guard let read = ExactDecimal(try row.text(3)) else {
            throw PostgresError(.decoding, "invalid stored quantity")
        }
        quantity = read
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
            .textArray(purchases.map(\.quantity.description)),
        ]
    }
}
