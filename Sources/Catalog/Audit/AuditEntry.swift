internal import JSON

/// An entry of the audit log.
package struct AuditEntry: Sendable, Hashable {
    package var id: UniqueID
    /// When the transaction of the change began.
    package var at: Timestamp
    package var origin: ChangeOrigin
    /// The name of an `AuditAction`, perhaps of a later version of the program.
    package var action: String
    package var subject: String?
    /// An object with what changed, as JSON.
    package var detail: String

    package init(
        id: UniqueID,
        at: Timestamp,
        origin: ChangeOrigin,
        action: String,
        subject: String?,
        detail: String
    ) {
        self.id = id
        self.at = at
        self.origin = origin
        self.action = action
        self.subject = subject
        self.detail = detail
    }

    /// Creates the entry of a change by the current task.
    package init(_ change: AuditChange, at: Timestamp) {
        self.init(
            id: .random(),
            at: at,
            origin: .current,
            action: change.action.rawValue,
            subject: change.subject,
            detail: change.detail.text
        )
    }
}
