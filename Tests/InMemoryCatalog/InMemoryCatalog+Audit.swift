package import Catalog
internal import Synchronization

// The reference implementation of the audit log: a list of entries per store and user.
extension InMemoryCatalog {
    package func audit(_ request: AuditRequest) async throws(CatalogError) -> AuditPage {
        let position = try request.position
        let entries =
            switch request.log {
            case .store(let store): try log(of: store)
            case .user(let user): userLogs.withLock { ($0.entries[user] ?? []) + ($0.erasures[user] ?? []) }
            }
        let found = entries.filter { entry in
            request.accepts(entry) && (position.map { (entry.at, entry.id) < ($0.at, $0.id) } ?? true)
        }.sorted { ($0.at, $0.id) > ($1.at, $1.id) }
        return AuditPage(request, found: Array(found.prefix(request.limit + 1)))
    }

    /// Returns the log of a store that exists or existed.
    private func log(of key: CatalogKey) throws(CatalogError) -> [AuditEntry] {
        guard let store = content.withLock({ $0[key] }) else { throw .notFound("store “\(key)”") }
        return store.audit
    }

    /// The logs of users, which outlive their accounts.
    struct UserLogs: Sendable {
        var entries: [UserID: [AuditEntry]] = [:]
        /// The entries about erasures, which the database keeps under a hash of the user.
        var erasures: [UserID: [AuditEntry]] = [:]
    }

    /// Records a change of a user's data by the current task.
    ///
    /// - Parameter change: nil if nothing changed.
    func record(_ change: AuditChange?, of user: UserID) {
        guard let change else { return }
        let now = clock()
        userLogs.withLock { logs in
            let entries = logs.entries[user] ?? []
            logs.entries[user] = entries + [AuditEntry(change, at: entries.nextTime(now))]
        }
    }

    /// Deletes a user's entries, and records that without the user, the address and the token.
    func eraseLog(of user: UserID, _ action: AuditAction) {
        var entry = AuditEntry(AuditChange(action), at: clock())
        entry.origin = ChangeOrigin(
            source: entry.origin.source,
            actor: "erased",
            requestID: entry.origin.requestID
        )
        userLogs.withLock { logs in
            let deleted = logs.entries.removeValue(forKey: user)?.count ?? 0
            entry.detail = #"{"entries":\#(deleted)}"#
            logs.erasures[user, default: []].append(entry)
        }
    }
}

extension InMemoryCatalog.StoreContent {
    /// Records a change of the store by the current task.
    ///
    /// - Parameter change: nil if nothing changed.
    mutating func record(_ change: AuditChange?, _ now: Timestamp) {
        if let change { audit.append(AuditEntry(change, at: audit.nextTime(now))) }
    }
}

extension [AuditEntry] {
    /// Returns the time of the next entry, which is later than the last one.
    fileprivate func nextTime(_ now: Timestamp) -> Timestamp {
        Swift.max(now, Timestamp(microseconds: (last?.at.microseconds ?? 0) + 1))
    }
}
