package import JSON
package import Catalog

extension ListShare {
    package func write(token: String? = nil, to json: inout JSONWriter) {
        json.object { json in
            json.field("id", id.text)
            json.field("role", role.rawValue)
            if let token { json.field("token", token) }
            json.field("created_at", createdAt.rfc3339)
            json.field("expires_at", expiresAt.rfc3339)
            json.field("members", members)
        }
    }
}
