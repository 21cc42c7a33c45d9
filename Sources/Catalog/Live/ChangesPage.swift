/// Changes to a user's settings and lists, as events.
package struct ChangesPage: Sendable {
    /// The events, by revision.
    package var events: [LiveEvent]
    /// The revision to continue from.
    package var revision: Int64
    /// Whether older changes were purged: the devices must resync.
    package var isResync: Bool

    package init(events: [LiveEvent], revision: Int64, isResync: Bool) {
        self.events = events
        self.revision = revision
        self.isResync = isResync
    }
}
