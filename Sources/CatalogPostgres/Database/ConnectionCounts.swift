/// The maximum numbers of database connections of one server.
package struct ConnectionCounts: Sendable, Hashable {
    /// The number of event loops, each of which has its own connections for pages.
    package var eventLoops: Int
    /// For the pages of one event loop.
    package var pagesPerEventLoop: Int
    /// For writes.
    package var writes: Int
    /// For long reads.
    package var longReads: Int
    /// For imports, and so the number of imports that can run at the same time.
    package var imports: Int
    /// For re-sorts and housekeeping.
    package var batch: Int

    package init(
        eventLoops: Int = 1,
        pagesPerEventLoop: Int = 2,
        writes: Int = 8,
        longReads: Int = 4,
        imports: Int = 4,
        batch: Int = 2
    ) {
        self.eventLoops = eventLoops
        self.pagesPerEventLoop = pagesPerEventLoop
        self.writes = writes
        self.longReads = longReads
        self.imports = imports
        self.batch = batch
    }

    /// Returns the default number of a server's connections for long reads. Each of them can keep a processor busy, so half
    /// of the processors stay free for pages and writes.
    package static func longReads(processors: Int) -> Int { min(8, max(2, processors / 2)) }

    /// Returns the default number of a server's event loops. Each of them also keeps the thread of its pipeline busy, and has
    /// connections of its own.
    package static func eventLoops(processors: Int) -> Int { min(8, max(1, processors / 2)) }

    /// One each for announcing changes, listening to them, and readiness.
    private static let others = 3

    /// The maximum number of connections of a server to each replica: for pages, long reads and the monitor.
    package var replicaTotal: Int { eventLoops * pagesPerEventLoop + longReads + 1 }

    /// The maximum number of connections of a server. Each import has three: one holds the lock of its run, and two change stores.
    package var total: Int {
        eventLoops * pagesPerEventLoop + writes + longReads + 3 * imports + batch + Self.others
    }
}
