internal import JSON
package import Catalog

extension IssuedShare: RecordableOutcome {
    /// The recorded response, without a derivable token, because secrets are not stored.
    package var recorded: RecordedResponse {
        var json = JSONWriter(reserving: 256)
        share.write(token: recordedToken, to: &json)
        return RecordedResponse(isNew: true, body: json.bytes)
    }

    package init(recorded: RecordedResponse) throws(CatalogError) {
        self = try recorded.read { reader throws(CatalogError) in
            guard let id = try reader.string("id", bytes: 64).flatMap({ UniqueID($0) }),
                let role = try reader.string("role", bytes: 64).flatMap({ ListRole(rawValue: $0) }),
                let start = try reader.string("created_at", bytes: 64).flatMap({ Timestamp(rfc3339: $0) }),
                let end = try reader.string("expires_at", bytes: 64).flatMap({ Timestamp(rfc3339: $0) })
            else { return nil }
            let members = Int(try reader.integer("members") ?? 0)
            let share = ListShare(id: id, role: role, createdAt: start, expiresAt: end, members: members)
            return IssuedShare(share, recordedToken: try reader.string("token", bytes: 256))
        }
    }
}
