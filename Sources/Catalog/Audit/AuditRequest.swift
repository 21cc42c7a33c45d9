/// A request for the latest entries of an audit log that match.
package struct AuditRequest: Sendable, Hashable {
    /// The log of a store or of a user.
    package enum Log: Sendable, Hashable {
        case store(CatalogKey)
        /// A user's entries, and those of earlier erasures of the user.
        case user(UserID)
    }

    package var log: Log
    /// The first time that matches; nil for any.
    package var since: Timestamp?
    /// The first time after `since` that does not match; nil for none.
    package var until: Timestamp?
    package var action: AuditAction?
    package var actor: String?
    package var subject: String?
    package var limit: Int
    /// The position after which the page begins; nil for the first page.
    package var after: Cursor?

    package init(
        _ log: Log,
        since: Timestamp? = nil,
        until: Timestamp? = nil,
        action: AuditAction? = nil,
        actor: String? = nil,
        subject: String? = nil,
        limit: Int = PageRequest.defaultLimit,
        after: Cursor? = nil
    ) {
        self.log = log
        self.since = since
        self.until = until
        self.action = action
        self.actor = actor
        self.subject = subject
        self.limit = limit
        self.after = after
    }

    /// The maximum length of an actor or a subject, in bytes.
    package static let textLimit = 256

    /// The log and the conditions, to which a cursor belongs.
    package var scope: String {
        let name =
            switch log {
            case .store(let store): "audit/store/\(store)"
            case .user(let user): "audit/user/\(user)"
            }
        let times = [since, until].map { $0.map { "\($0.microseconds)" } ?? "" }
        return ([name] + times + [action?.rawValue ?? "", actor ?? "", subject ?? ""]).joined(separator: "\u{0}")
    }

    /// The position of `after`; nil for the first page.
    ///
    /// - Throws: `invalidCursor` if the cursor belongs to another log or other conditions.
    package var position: (at: Timestamp, id: UniqueID)? {
        get throws(CatalogError) {
            guard let after else { return nil }
            guard after.scope == scope, case .integer(let at)? = after.values.first, let id = UniqueID(after.id) else {
                throw .invalidCursor
            }
            return (Timestamp(microseconds: at), id)
        }
    }

    /// Returns the cursor after an entry.
    package func cursor(after entry: AuditEntry) -> Cursor {
        Cursor(
            scope: scope,
            sort: "-at",
            source: .query,
            values: [.integer(entry.at.microseconds)],
            id: entry.id.text
        )
    }

    /// Returns whether an entry matches the conditions.
    package func accepts(_ entry: AuditEntry) -> Bool {
        (since.map { $0 <= entry.at } ?? true) && (until.map { entry.at < $0 } ?? true)
            && (action.map { $0.rawValue == entry.action } ?? true) && (actor.map { $0 == entry.origin.actor } ?? true)
            && (subject.map { $0 == entry.subject } ?? true)
    }
}
