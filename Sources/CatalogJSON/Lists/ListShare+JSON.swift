package import Catalog
package import JSON

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

extension ListShare: RecordableOutcome {
    /// The recorded response, without the token, because secrets are not stored.
    package var recorded: RecordedResponse {
        RecordedResponse(isNew: true, body: JSONWriter.document { write(to: &$0) })
    }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let id = try reader.string("id", bytes: 64).flatMap({ UniqueID($0) }),
                let role = try reader.string("role", bytes: 64).flatMap({ ListRole(rawValue: $0) }),
                let start = try reader.string("created_at", bytes: 64).flatMap({ Timestamp(rfc3339: $0) }),
                let end = try reader.string("expires_at", bytes: 64).flatMap({ Timestamp(rfc3339: $0) })
            else { return nil }
            let members = Int(try reader.integer("members") ?? 0)
            return ListShare(id: id, role: role, createdAt: start, expiresAt: end, members: members)
        }
    }
}

extension ListShare {
    /// Parses the role of a new share: `{"role":"reader"}`.
    package init(body: JSONValue, now: Timestamp) throws(CatalogError) {
        var reader = try BodyReader(body)
        let text = try reader.string("role", bytes: 64)
        try reader.end()
        let role = text.flatMap(ListRole.init)
        guard text == nil || role.map(ListRole.shared.contains) == true else {
            throw .malformed(
                parameter: "role",
                detail: "role must be one of the allowed values (got “\(text ?? "")”)",
                allowed: ListRole.shared.map(\.rawValue)
            )
        }
        self.init(
            id: .random(),
            role: role ?? .reader,
            createdAt: now,
            expiresAt: now.adding(days: Self.lifetimeDays)
        )
    }
}
