/// The audit log, which records every change of a store or of a user's data with the change.
package protocol AuditStore: Sendable {
    /// Returns a page of entries, the latest first.
    ///
    /// The log of a deleted store stays.
    ///
    /// - Throws: `notFound` for a store that never existed; `invalidCursor`.
    func audit(_ request: AuditRequest) async throws(CatalogError) -> AuditPage
}

/// How long the entries of the audit log are kept.
package struct AuditRetention: Sendable, Hashable {
    /// The number of days; nil for ever. Months are dropped as a whole, so earlier days may be kept, too.
    package let days: Int?

    /// - Parameter days: 0 for ever, otherwise `minimumDays` or more.
    package init?(days: Int) {
        guard days == 0 || (Self.minimumDays...Self.maximumDays).contains(days) else { return nil }
        self.days = days == 0 ? nil : days
    }

    /// The default: a year, and a month for the review of it.
    package static let standard = AuditRetention(days: 400)!
    /// The owner's functions in the database refuse to drop later entries.
    package static let minimumDays = 31
    package static let maximumDays = 36_500
}

/// A page of an audit log, the latest entry first.
package struct AuditPage: Sendable {
    package var entries: [AuditEntry]
    /// The cursor of the next page; nil on the last one.
    package var next: Cursor?

    /// Creates the page of a request.
    ///
    /// - Parameter found: the entries from the request's position on, one more than the page has if there are more.
    package init(_ request: AuditRequest, found: [AuditEntry]) {
        entries = Array(found.prefix(request.limit))
        next = found.count > request.limit ? entries.last.map { request.cursor(after: $0) } : nil
    }
}
