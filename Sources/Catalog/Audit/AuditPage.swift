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
