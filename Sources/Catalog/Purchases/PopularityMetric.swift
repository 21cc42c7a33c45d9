/// By what popularity is counted.
package enum PopularityMetric: String, CaseIterable, Sendable, Hashable {
    case decay
    case last7Days = "7d"
    case last30Days = "30d"
    case last90Days = "90d"
    case all
    case trend

    /// How many days count, today's among them; nil for all.
    package var window: Int? {
        switch self {
        case .last7Days, .trend: 7
        case .last30Days: 30
        case .last90Days: 90
        case .decay, .all: nil
        }
    }
}
