package import JSON
package import Catalog
package import CatalogImport

extension Purchase {
    package static let columns = ["event_id", "sku", "quantity", "at", "customer"]

    /// - Parameter now: the current time; purchases may be later by at most the leeway.
    package init(_ row: NamedRow, now: Timestamp) throws(ImportRejection) {
        let eventID = try row.required("event_id")
        guard eventID.utf8.count <= Self.eventIDLimit, eventID.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
            throw row.reject("event_id", "must be 1 to \(Self.eventIDLimit) printable ASCII characters")
        }
        let sku = try row.sku()
        guard let quantity = ExactDecimal(try row.required("quantity")), !quantity.isZero,
            quantity.scale <= Self.quantityScale,
            ExactDecimal(-Self.quantityLimit.significand)...Self.quantityLimit ~= quantity
        else {
            throw row.reject(
                "quantity",
                "must be a number up to \(Self.quantityLimit) with at most \(Self.quantityScale) decimals, not zero, and negative for a refund"
            )
        }
        guard let at = Timestamp(rfc3339: try row.required("at")) else {
            throw row.reject("at", "is not a time such as 2026-03-01T09:30:00Z")
        }
        guard at.microseconds <= now.microseconds + Self.leeway else {
            throw row.reject("at", "is in the future (the current time is \(now.rfc3339))")
        }
        let customer = row.text("customer")
        if let customer, customer.utf8.count > Self.customerLimit || !customer.isPrintable {
            throw row.reject("customer", "must be at most \(Self.customerLimit) bytes of printable text")
        }
        self.init(eventID: eventID, sku: sku, quantity: quantity, at: at, customer: customer)
    }

    /// Parses a body with an array of purchases, all or none.
    package static func list(body: JSONValue?, now: Timestamp) throws(CatalogError) -> [Purchase] {
        guard case .array(let values)? = body else {
            throw .malformed(parameter: nil, detail: "the body must be an array of purchases")
        }
        return try values.rows(limit: countLimit, columns: columns, numbers: ["quantity"]) {
            row throws(ImportRejection) in
            try Purchase(row, now: now)
        }
    }
}
