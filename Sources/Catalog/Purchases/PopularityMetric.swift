/// The metric of popularity.
package enum PopularityMetric: String, CaseIterable, Sendable, Hashable {
    case decay
    case last7Days = "7d"
    case last30Days = "30d"
    case last90Days = "90d"
    case all
    case trend

    /// The number of days that count, including today; nil for all.
    package var window: Int? {
        switch self {
        case .last7Days, .trend: 7
        case .last30Days: 30
        case .last90Days: 90
        case .decay, .all: nil
        }
    }
}
