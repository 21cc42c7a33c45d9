internal import LibPQ

/// The state of a replica, as it reports it.
struct ReplicaReport: Sendable, Hashable {
    /// Whether it replays the log of another server; false after its promotion.
    var isStandby: Bool
    /// The position up to which it has replayed the log, in bytes; nil if it replays none.
    var replayed: Int64?
    /// The start of the current epoch in its record; nil without the record.
    var epochStart: Int64?
}

/// The state that a replica must have for a read.
struct ReplicaRequirement: Sendable, Hashable {
    let epoch: EpochRecord
    /// The position up to which the replica has replayed the log, in bytes.
    let minimum: Int64

    /// Returns the reason for which a replica does not meet the requirement; nil if it does.
    ///
    /// Once a replica meets it, it always does: the state of a standby only grows, and a promotion keeps its rows. Each read
    /// after the report is therefore new enough.
    func problem(of report: ReplicaReport) -> ReplicaProblem? {
        guard report.isStandby, let replayed = report.replayed else { return .promoted }
        guard report.epochStart == epoch.startedAt else { return .otherHistory }
        return replayed < minimum ? .lagging : nil
    }

    /// - Parameter report: nil without a report.
    /// - Throws: `ReplicaProblem` if the replica does not meet the requirement.
    func check(_ report: ReplicaReport?) throws {
        if let problem = report.map({ problem(of: $0) }) ?? .unreachable { throw problem }
    }
}

/// The reason for which a replica is passed over.
enum ReplicaProblem: String, Error, Sendable {
    case unreachable = "it cannot be reached"
    case promoted = "it is not a standby"
    case otherHistory = "it does not follow the primary, or has not replayed the start of its epoch"
    case lagging = "it lags behind the primary"
    case distributed = "its tables are distributed by Citus"

    /// Returns whether the primary may answer a read that a replica could not answer: a conflict with the replay, an older schema, the
    /// loss of the replica.
    static func isRepeatable(_ error: any Error) -> Bool {
        if let error = error as? PostgresError { return error.kind != .cancelled }
        return error is ReplicaProblem
    }
}
