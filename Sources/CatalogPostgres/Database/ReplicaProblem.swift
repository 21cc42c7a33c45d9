/// The reason for which a replica is passed over.
enum ReplicaProblem: String, Error, Sendable {
    case unreachable = "it cannot be reached"
    case promoted = "it is not a standby"
    case otherHistory = "it does not follow the primary, or has not replayed the start of its epoch"
    case lagging = "it lags behind the primary"
    case distributed = "its tables are distributed by Citus"
}
