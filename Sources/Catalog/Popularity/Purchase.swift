/// One purchase of a product, or a refund: an event that counts once, however often it is told.
package struct Purchase: Sendable, Hashable {
    /// A UUID in lower case.
    package var eventID: String
    package var sku: SKU
    /// Pieces; below zero for a refund, never zero.
    package var quantity: Int32
    package var at: Timestamp
    /// Whatever the caller tells customers apart by; only a keyed hash of it is kept.
    package var customer: String?

    package init(eventID: String, sku: SKU, quantity: Int32, at: Timestamp, customer: String? = nil) {
        self.eventID = eventID
        self.sku = sku
        self.quantity = quantity
        self.at = at
        self.customer = customer
    }

    /// The most events of one request.
    package static let countBound = 10_000
    package static let quantityBound: Int32 = 1_000_000
    /// The most bytes of a customer.
    package static let customerBound = 200
    /// How far ahead of ours a clock may be, in microseconds.
    package static let leeway: Int64 = 300_000_000
    /// How many days customers and the ids of events are kept, where nothing else is said. What is told later than that
    /// cannot be told from what was counted.
    package static let keptDays = 400

    package static let columns = ["event_id", "sku", "quantity", "at", "customer"]

    /// - Parameter now: the moment beyond which, but for the leeway, nothing can have been bought.
    package init(_ row: FieldRow, now: Timestamp) throws(ImportRejection) {
        eventID = try row.needed("event_id").lowercased()
        guard UniqueID(eventID) != nil else { throw row.reject("event_id", "is no UUID") }
        sku = try row.sku()
        guard let quantity = Int32(try row.needed("quantity")), quantity != 0,
            (-Self.quantityBound...Self.quantityBound).contains(quantity)
        else {
            throw row.reject(
                "quantity",
                "must be a whole number up to \(Self.quantityBound), not 0, below it for a refund"
            )
        }
        self.quantity = quantity
        guard let at = Timestamp(rfc3339: try row.needed("at")) else {
            throw row.reject("at", "is no time such as 2026-03-01T09:30:00Z")
        }
        guard at.microseconds <= now.microseconds + Self.leeway else {
            throw row.reject("at", "is in the future; it is \(now.rfc3339) now")
        }
        self.at = at
        customer = row.text("customer")
        if let customer, customer.utf8.count > Self.customerBound || !customer.isPrintable {
            throw row.reject("customer", "must be at most \(Self.customerBound) printable bytes")
        }
    }

    /// Reads the purchases of a body, an array; all of them, or none.
    package static func list(body: JSONValue?, now: Timestamp) throws(CatalogError) -> [Purchase] {
        guard case .array(let values)? = body else {
            throw .malformed(parameter: nil, detail: "the body must be an array of purchases")
        }
        return try values.rows(bound: countBound, columns: columns, numbers: ["quantity"]) {
            row throws(ImportRejection) in
            try Purchase(row, now: now)
        }
    }
}

/// What became of purchases that were told.
package struct PurchaseOutcome: Sendable, Hashable {
    /// Told for the first time, of products that the store has.
    package var accepted = 0
    /// Told before: they count once.
    package var repeated = 0
    /// Of days that are no longer kept: nobody can tell whether they were counted, and they are not taken.
    package var tooOld = 0
    /// Of products that the store does not have; they are kept apart until it has.
    package var unknown = 0
    /// Some of those products, at most 1,000.
    package var unknownSKUs: Set<String> = []

    package static let unknownBound = 1000

    package init() {}

    package static func += (a: inout PurchaseOutcome, b: PurchaseOutcome) {
        a.accepted += b.accepted
        a.repeated += b.repeated
        a.tooOld += b.tooOld
        a.unknown += b.unknown
        if a.unknownSKUs.count < unknownBound {
            a.unknownSKUs.formUnion(b.unknownSKUs.prefix(unknownBound - a.unknownSKUs.count))
        }
    }

    package var json: [UInt8] {
        var json = JSONText()
        json.object { json in
            json.field("accepted", accepted)
            json.field("repeated", repeated)
            json.field("too_old", tooOld)
            json.field("unknown", unknown)
            json.array("unknown_skus", unknownSKUs.sorted()) { $0.string($1) }
        }
        return json.bytes
    }
}
