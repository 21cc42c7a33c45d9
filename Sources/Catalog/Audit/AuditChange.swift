package import JSON

/// A change to record in the audit log.
package struct AuditChange: Sendable, Hashable {
    package var action: AuditAction
    /// The key of the product, shelf, setting or list; nil for a change of several, or of the store or user.
    package var subject: String?
    /// An object with what changed.
    package var detail: JSONValue

    package init(_ action: AuditAction, _ subject: String? = nil, _ detail: [JSONValue.Member] = []) {
        self.action = action
        self.subject = subject
        self.detail = .object(detail)
    }

    /// The maximum number of products that an entry lists; it also has the number of all.
    package static let itemLimit = 1000
}
