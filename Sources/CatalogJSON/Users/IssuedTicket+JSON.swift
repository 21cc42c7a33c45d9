internal import JSON
package import Catalog

extension IssuedTicket {
    /// Returns the ticket in the API's format.
    ///
    /// - Parameter text: the text of the ticket.
    package func json(text: String) -> [UInt8] {
        JSONWriter.object { json in
            json.field("ticket", text)
            json.field("expires_at", expiresAt.rfc3339)
        }
    }
}

extension IssuedTicket: RecordableOutcome {
    /// The recorded response, without the text, because secrets are not stored.
    package var recorded: RecordedResponse {
        let body = JSONWriter.object { json in
            json.field("id", id.text)
            json.field("expires_at", expiresAt.rfc3339)
        }
        return RecordedResponse(isNew: true, body: body)
    }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let id = try reader.string("id", bytes: 64).flatMap({ UniqueID($0) }),
                let expiry = try reader.string("expires_at", bytes: 64).flatMap({ Timestamp(rfc3339: $0) })
            else { return nil }
            return IssuedTicket(id: id, expiresAt: expiry)
        }
    }
}
