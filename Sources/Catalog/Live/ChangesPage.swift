/// Changes of a user's settings and lists, as events for their devices.
package struct ChangesPage: Sendable {
    /// By revision.
    package var events: [LiveEvent]
    /// What to ask from next.
    package var revision: Int64
    /// Whether something is forgotten that they were not told: they read everything anew.
    package var isResync: Bool

    package init(events: [LiveEvent], revision: Int64, isResync: Bool) {
        self.events = events
        self.revision = revision
        self.isResync = isResync
    }
}
