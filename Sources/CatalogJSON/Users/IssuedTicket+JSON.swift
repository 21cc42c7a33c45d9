internal import JSON
package import Catalog

extension IssuedTicket {
    /// Returns the ticket in the API's format.
    ///
    /// - Parameter text: the text of the ticket.
    package func json(text: String) -> [UInt8] {
        var json = JSONWriter(reserving: 128)
        json.object { json in
            json.field("ticket", text)
            json.field("expires_at", expiresAt.rfc3339)
        }
        return json.bytes
    }
}

extension IssuedTicket: RecordableOutcome {
    /// The recorded response, without a derivable ticket text, because secrets are not stored.
    package var recorded: RecordedResponse {
        var json = JSONWriter(reserving: 128)
        json.object { json in
            switch text {
            case .derived(let id): json.field("id", id.text)
            case .recorded(let text): json.field("ticket", text)
            }
            json.field("expires_at", expiresAt.rfc3339)
        }
        return RecordedResponse(isNew: true, body: json.bytes)
    }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let expiry = try reader.string("expires_at", bytes: 64).flatMap({ Timestamp(rfc3339: $0) }) else {
                return nil
            }
            if let id = try reader.string("id", bytes: 64).flatMap({ UniqueID($0) }) {
                return IssuedTicket(.derived(id), expiresAt: expiry)
            }
            return try reader.string("ticket", bytes: 256).map { IssuedTicket(.recorded($0), expiresAt: expiry) }
        }
    }
}
