package import JSON
package import Catalog

extension AuditEntry {
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id.text)
            json.field("at", at.rfc3339)
            json.field("action", action)
            json.field("subject", subject)
            json.field("source", origin.source.rawValue)
            json.field("actor", origin.actor)
            json.field("address", origin.address)
            json.field("token", origin.token)
            json.field("request_id", origin.requestID)
            json.field("detail", json: detail)
        }
    }
}

extension AuditPage {
    /// Returns the page in the format of responses.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of entries.
    ///   - cursor: the cursor of the next page; nil on the last one.
    package func json(limit: Int, next cursor: String?) -> [UInt8] {
        JSONWriter.object { json in
            json.array("entries", entries) { $1.write(to: &$0) }
            json.page(limit, cursor)
        }
    }
}
