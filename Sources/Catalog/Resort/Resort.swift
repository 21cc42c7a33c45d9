/// What a re-sort is asked to do.
package struct ResortRequest: Sendable, Hashable {
    /// What is told of what moved.
    package enum DiffForm: String, CaseIterable, Sendable {
        /// Nothing: the orders that shelves show are not compared.
        case none
        /// How many products moved.
        case summary
        /// The moves, as the API answers them.
        case moves
        /// The moves as RFC 6902 operations.
        case jsonPatch = "json-patch"
    }

    /// nil for every store.
    package var store: CatalogKey?
    /// Of that store; empty for all.
    package var shelves: [CatalogKey]
    /// Only shelves that were changed since, or whose products were bought.
    package var changedSince: Timestamp?
    package var diffs: DiffForm
    /// Nothing is changed; what would be is told.
    package var isRehearsal: Bool
    /// How many shelves are worked on at once.
    package var jobs: Int
    /// How many days customers and the ids of events are kept.
    package var keptDays: Int

    package static let jobsBound = 64

    package init(
        store: CatalogKey? = nil,
        shelves: [CatalogKey] = [],
        changedSince: Timestamp? = nil,
        diffs: DiffForm = .summary,
        isRehearsal: Bool = false,
        jobs: Int = 1,
        keptDays: Int = Purchase.keptDays
    ) {
        self.store = store
        self.shelves = shelves
        self.changedSince = changedSince
        self.diffs = diffs
        self.isRehearsal = isRehearsal
        self.jobs = jobs
        self.keptDays = keptDays
    }

    /// The request as JSON, as the history keeps it.
    package var text: String {
        var json = JSONText()
        json.object { json in
            json.field("store", store?.text)
            json.array("shelves", shelves) { $0.string($1.text) }
            json.field("changed_since", changedSince?.rfc3339)
            json.field("diff", diffs.rawValue)
            json.field("jobs", jobs)
            json.field("kept_days", keptDays)
        }
        return json.text
    }

    /// A request that the history has kept; nil where it cannot be read.
    package init?(text: String) {
        guard let value = try? JSONReader.parse(Array(text.utf8)), var reader = try? BodyReader(value) else {
            return nil
        }
        do {
            self.init(
                store: try reader.string("store", bytes: 64).flatMap { CatalogKey($0) },
                shelves: try reader.strings("shelves")?.compactMap { CatalogKey($0) } ?? [],
                changedSince: try reader.string("changed_since", bytes: 64).flatMap { Timestamp(rfc3339: $0) },
                diffs: try reader.choice("diff") ?? .summary,
                jobs: Int(min(max(try reader.integer("jobs") ?? 1, 1), 64)),
                keptDays: Int(min(max(try reader.integer("kept_days") ?? Int64(Purchase.keptDays), 1), 36_500))
            )
        } catch { return nil }
    }
}

/// What a re-sort did to a shelf, or would do.
package struct ShelfResort: Sendable {
    package var shelf: ShelfAddress
    package var products: Int
    /// Products whose score on the shelf is another.
    package var rescored: Int
    /// Products that moved: in the manual order where the shelf has a source for it, else in the order that it shows.
    package var moved: Int
    package var duration: Duration
    /// The moves, where they were asked for.
    package var diff: OrderDiff?

    package init(
        shelf: ShelfAddress,
        products: Int,
        rescored: Int = 0,
        moved: Int = 0,
        duration: Duration = .zero,
        diff: OrderDiff? = nil
    ) {
        self.shelf = shelf
        self.products = products
        self.rescored = rescored
        self.moved = moved
        self.duration = duration
        self.diff = diff
    }
}

/// What a re-sort did altogether.
package struct ResortSummary: Sendable, Hashable {
    /// The purchase events that were folded.
    package var events = 0
    /// Products whose score is another.
    package var products = 0
    /// Shelves that were looked at, and those that changed.
    package var shelves = 0
    package var changed = 0
    package var moved = 0

    package init() {}

    /// Whether anything is, or would be, another than before.
    package var isChange: Bool { events > 0 || products > 0 || changed > 0 }

    package var counts: [(name: String, count: Int)] {
        [("events", events), ("products", products), ("shelves", shelves), ("changed", changed), ("moved", moved)]
    }
}

/// A re-sort that was run.
package struct ResortRun: Sendable, Hashable {
    package enum State: String, Sendable {
        case running, done, failed
        /// Its process is gone; `--resume` finishes it.
        case interrupted
    }

    package var number: Int64
    package var state: State
    package var startedAt: Timestamp
    package var endedAt: Timestamp?
    /// What was asked for, as JSON.
    package var request: String
    package var failure: String?
    package var summary: ResortSummary

    package init(
        number: Int64,
        state: State,
        startedAt: Timestamp,
        endedAt: Timestamp?,
        request: String,
        failure: String?,
        summary: ResortSummary
    ) {
        self.number = number
        self.state = state
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.request = request
        self.failure = failure
        self.summary = summary
    }
}
