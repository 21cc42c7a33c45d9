internal import Catalog

/// Selects replicas for reads, from the reports of the replicas and the positions of the primary.
struct ReplicaSelection: Sendable {
    private enum Member: Sendable {
        case failed(ReplicaProblem)
        case reported(ReplicaReport)
    }

    /// A position that the primary had at a time.
    private struct Sample: Sendable {
        let time: ContinuousClock.Instant
        let position: Int64
    }

    /// The maximum lag of a replica that is used.
    let lagLimit: Duration
    private(set) var epoch: EpochRecord?
    /// Whether the primary answered last time.
    private(set) var primaryResponds = false
    private var members: [Member]
    /// The positions of the primary within the lag limit before its last answer, and one before that; the oldest first.
    private var samples: [Sample] = []
    /// The replica whose turn it is.
    private var next = 0

    init(count: Int, lagLimit: Duration) {
        members = Array(repeating: .failed(.unreachable), count: count)
        self.lagLimit = lagLimit
    }

    // MARK: - Reports

    /// Records an answer of the primary.
    mutating func primaryReported(_ epoch: EpochRecord, position: Int64, at time: ContinuousClock.Instant) {
        primaryResponds = true
        if epoch != self.epoch {
            // Positions of different histories cannot be compared. The replicas must show the record of the new epoch first.
            self.epoch = epoch
            samples = []
            for index in members.indices { members[index] = .failed(.otherHistory) }
        }
        samples.append(Sample(time: time, position: position))
        let firstKept = samples.lastIndex { $0.time <= time - lagLimit } ?? 0
        samples.removeFirst(firstKept)
    }

    /// Records that the primary did not answer. Its epoch and positions remain valid until another primary answers.
    mutating func primaryFailed() { primaryResponds = false }

    mutating func replicaReported(_ report: ReplicaReport, _ index: Int) { members[index] = .reported(report) }

    mutating func replicaFailed(_ problem: ReplicaProblem, _ index: Int) { members[index] = .failed(problem) }

    // MARK: - Decisions

    /// The position that a replica within the lag limit has replayed.
    ///
    /// The time counts up to the last answer of the primary: as long as it is lost, no replica becomes unusable.
    ///
    /// Until the samples span the limit, it is the first known position, so that nobody reads from a replica that has been far behind.
    private var minimum: Int64 { samples.first?.position ?? 0 }

    /// Returns the reason for which a replica is passed over by all reads; nil if it is used.
    func problem(_ index: Int) -> ReplicaProblem? {
        switch members[index] {
        case .failed(let problem): return problem
        case .reported(let report):
            guard let epoch else { return .otherHistory }
            return ReplicaRequirement(epoch: epoch, minimum: minimum).problem(of: report)
        }
    }

    var hasUsableReplica: Bool { members.indices.contains { problem($0) == nil } }

    /// Returns the position up to which a replica has replayed the log; nil if it is unknown.
    private func replayed(_ index: Int) -> Int64? {
        if case .reported(let report) = members[index] { report.replayed } else { nil }
    }

    /// Returns the time between the first position of the primary that a replica lacks and the primary's last answer; nil if it is unknown.
    func lag(_ index: Int) -> Duration? {
        guard let replayed = replayed(index), let last = samples.last else { return nil }
        guard let missing = samples.first(where: { $0.position > replayed }) else { return .zero }
        return missing.time.duration(to: last.time)
    }

    /// Returns the requirement for a state that includes a position; nil if only the primary can meet it.
    ///
    /// - Parameter position: nil for any state within the lag limit.
    func requirement(for position: LogPosition?) -> ReplicaRequirement? {
        guard let epoch else { return nil }
        guard let position else { return ReplicaRequirement(epoch: epoch, minimum: minimum) }
        // Another cluster, or a failover that was not noticed yet.
        guard position.cluster == epoch.cluster, position.timeline <= epoch.timeline else { return nil }
        // A replica with the record of the epoch has all that the epoch includes of earlier timelines.
        let offset = position.timeline == epoch.timeline ? position.offset : 0
        return ReplicaRequirement(epoch: epoch, minimum: max(minimum, offset))
    }

    /// Chooses a replica for a read, each in turn; nil if only the primary can answer.
    mutating func choose(for position: LogPosition?) -> (index: Int, requirement: ReplicaRequirement)? {
        guard let requirement = requirement(for: position) else { return nil }
        for turn in members.indices {
            let index = (next + turn) % members.count
            guard case .reported(let report) = members[index], requirement.problem(of: report) == nil else { continue }
            next = (index + 1) % members.count
            return (index, requirement)
        }
        return nil
    }
}
