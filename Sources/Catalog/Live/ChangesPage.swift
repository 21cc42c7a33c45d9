/// Changes of a user's settings and lists, as events for their devices.
package struct ChangesPage: Sendable {
    /// By revision.
    package var events: [LiveEvent]
    /// What to ask from next.
    package var revision: Int64
    /// Whether changes are missing that are no longer kept: the devices then read everything again.
    package var isResync: Bool

    package init(events: [LiveEvent], revision: Int64, isResync: Bool) {
        self.events = events
        self.revision = revision
        self.isResync = isResync
    }
}
