/// An issued ticket: the data with which a repeated request returns the same text.
package struct IssuedTicket: Sendable, Hashable {
    /// The source of the ticket's text.
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
