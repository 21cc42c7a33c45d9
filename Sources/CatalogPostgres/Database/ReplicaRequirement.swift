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
