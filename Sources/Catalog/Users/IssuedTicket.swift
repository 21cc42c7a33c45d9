/// A ticket that was issued: what a repeat of the request needs to return the same text.
package struct IssuedTicket: Sendable, Hashable {
    /// How the text of the ticket is found again.
    package enum Text: Sendable, Hashable {
        /// Derived from the ticket's id.
        case derived(UniqueID)
        /// Recorded by version 0.1.0.
        case recorded(String)
    }

    package let text: Text
    package let expiresAt: Timestamp

    package init(_ text: Text, expiresAt: Timestamp) {
        self.text = text
        self.expiresAt = expiresAt
    }
}
