package import Catalog
package import Live

extension LiveSubscription {
    /// Returns the names of the next events; none at the end of the stream.
    ///
    /// - Throws: `LateEvents` after a minute without events.
    package nonisolated func nextEventNames() async throws -> [LiveEvent.Name] {
        try await withThrowingTaskGroup(of: [LiveEvent.Name].self) { group in
            group.addTask {
                while let output = try await self.next() {
                    if case .events(let events) = output { return events.map(\.name) }
                }
                return []
            }
            group.addTask {
                try await Task.sleep(for: .seconds(60))
                throw LateEvents()
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }
}

/// The events that a test waited for did not come.
package struct LateEvents: Error {}
