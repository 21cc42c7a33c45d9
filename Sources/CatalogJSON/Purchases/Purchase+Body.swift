package import Catalog

extension Purchase {
    package static let columns = ["event_id", "sku", "quantity", "at", "customer"]

    /// - Parameter now: the current time; purchases may be later by at most the leeway.
    package init(_ row: FieldRow, now: Timestamp) throws(ImportRejection) {
        let eventID = try row.required("event_id").lowercased()
        guard UniqueID(eventID) != nil else { throw row.reject("event_id", "is not a UUID") }
        let sku = try row.sku()
        guard let integer = Int64(integral: try row.required("quantity")),
            let quantity = Int32(exactly: integer), quantity != 0,
            (-Self.quantityLimit...Self.quantityLimit).contains(quantity)
        else {
            throw row.reject(
                "quantity",
                "must be a non-zero integer up to \(Self.quantityLimit), negative for a refund"
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
