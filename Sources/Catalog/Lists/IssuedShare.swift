/// A created share and the token recorded with it.
package struct IssuedShare: Sendable, Hashable {
    package let share: ListShare
    /// The token in a response that version 0.1.0 recorded; nil if the token is derived from the share's id.
    package let recordedToken: String?

    package init(_ share: ListShare, recordedToken: String? = nil) {
        self.share = share
        self.recordedToken = recordedToken
    }
}
