package import JSON
package import Catalog

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
                detail: "role must be one of the allowed values (got “\((text ?? "").prefix(64))”)",
                allowed: ListRole.shared.map(\.rawValue)
            )
        }
        self.init(
            id: .random(),
            role: role ?? .reader,
            createdAt: now,
            expiresAt: Timestamp(microseconds: now.microseconds + Int64(Self.lifetimeDays) * 86_400_000_000)
        )
    }
}
