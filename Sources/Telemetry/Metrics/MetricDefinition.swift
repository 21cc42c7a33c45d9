/// The declaration of a metric: its name, its meaning, and its kind.
package struct MetricDefinition: Sendable, Hashable {
    package enum Kind: Sendable, Hashable {
        /// A number that only grows.
        case counter
        /// A number that grows and shrinks.
        case gauge
        /// The distribution of measured values, in buckets with these upper bounds, which ascend.
        case histogram(bounds: [Double])
    }

    /// The name, with the unit and, for a counter, the suffix `_total`.
    package let name: String
    /// One sentence for dashboards.
    package let help: String
    package let kind: Kind
    /// The names of the labels.
    package let labels: [String]

    package init(_ name: String, _ kind: Kind, labels: [String] = [], _ help: String) {
        self.name = name
        self.help = help
        self.kind = kind
        self.labels = labels
    }
}

extension MetricDefinition.Kind {
    /// The name of the kind in both text formats.
    var name: String {
        switch self {
        case .counter: "counter"
        case .gauge: "gauge"
        case .histogram: "histogram"
        }
    }

    /// The bounds of requests' durations, in seconds.
    package static let requestSeconds = Self.histogram(bounds: [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
    ])
    /// The bounds of waits and delays, in seconds.
    package static let waitSeconds = Self.histogram(bounds: [
        0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 3,
    ])
    /// The bounds of batch work's durations, in seconds.
    package static let batchSeconds = Self.histogram(bounds: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 1800, 3600])
}

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
