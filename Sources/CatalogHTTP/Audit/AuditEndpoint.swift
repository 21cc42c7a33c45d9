internal import Catalog
internal import CatalogJSON
internal import Hummingbird

/// The endpoint that reads the audit log of a store.
struct AuditEndpoint: EndpointGroup {
    let audit: any AuditStore
    let cursors: CursorCodec

    var endpoints: [Endpoint] {
        [
            Endpoint(
                .get,
                "/v1/stores/{store}/audit",
                .scope(.auditRead),
                .listAuditEntries,
                timeLimit: TimeLimit.shelf.request,
                cost: 5,
                read
            )
        ]
    }

    private func read(_ call: Call) async throws -> Response {
        let target = call.target
        var request = AuditRequest(.store(try call.parameters.store))
        request.since = try target.timestamp("since")
        request.until = try target.timestamp("until")
        request.action = try Self.action(target)
        request.actor = try Self.text("actor", target)
        request.subject = try Self.text("subject", target)
        request.limit = try target.limit()
        request.after = try target.cursor(cursors)
        let page = try await audit.audit(request)
        call.work.add(rows: page.entries.count)
        return .outcome(page.json(limit: request.limit, next: page.next.map { cursors.encode($0) }))
    }

    private static func action(_ target: RequestTarget) throws(CatalogError) -> AuditAction? {
        guard let text = try target.value("action") else { return nil }
        guard let action = AuditAction(rawValue: text), !action.concernsUser else {
            throw .malformed(
                parameter: "action",
                detail: "unknown action “\(text.prefix(64))”",
                allowed: AuditAction.ofStores.map(\.rawValue)
            )
        }
        return action
    }

    private static func text(_ name: String, _ target: RequestTarget) throws(CatalogError) -> String? {
        guard let text = try target.value(name) else { return nil }
        guard (1...AuditRequest.textLimit).contains(text.utf8.count), text.isPrintable else {
            throw .malformed(
                parameter: name,
                detail: "\(name) must be 1 to \(AuditRequest.textLimit) bytes of printable text"
            )
        }
        return text
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let listAuditEntries = Operation(
        "listAuditEntries",
        .audit,
        "List the audit log of a store",
        """
        Returns a page of the changes of a store, the latest first: who changed what, when, from \
        where, and by which token. An entry is written by the transaction that makes the change, \
        and never changed. Entries are kept for 400 days, or as configured.
        """,
        parameters: [
            Parameter("since", as: "audit_since"), Parameter("until", as: "audit_until"),
            Parameter("action", as: "audit_action"), Parameter("actor", as: "audit_actor"),
            Parameter("subject", as: "audit_subject"), .limit, .cursor,
        ],
        [200: .json("A page of the log.", "AuditPage")]
    )
}
