/// A text format of metrics.
package enum MetricFormat: Sendable, CaseIterable {
    /// Prometheus text, version 0.0.4.
    case prometheus
    /// OpenMetrics text, version 1.0.0.
    case openMetrics

    package var contentType: String {
        switch self {
        case .prometheus: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }

    /// Returns the format that a scraper prefers, by its `Accept` header.
    package static func accepted(by header: String?) -> MetricFormat {
        let ranges = (header ?? "").lowercased().split(separator: ",").map { range in
            let parts = range.split(separator: ";").map { $0.filter { $0 != " " } }
            let weight = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            return (type: parts.first ?? "", weight: weight)
        }
        let open = ranges.filter { $0.type == "application/openmetrics-text" }.map(\.weight).max() ?? 0
        let plain = ranges.filter { ["text/plain", "text/*", "*/*"].contains($0.type) }.map(\.weight).max() ?? 0
        return open > 0 && open >= plain ? .openMetrics : .prometheus
    }
}
