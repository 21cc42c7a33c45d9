package import CoreMetrics
internal import Synchronization

/// A backend of swift-metrics that keeps all values in memory, for scrapers.
///
/// Metrics should be declared, which gives them a help text and, for timers, their buckets. Undeclared ones are exported without.
package final class MetricRegistry: MetricsFactory {
    /// A metric and its values by labels.
    private struct Family {
        let definition: MetricDefinition
        var series: [LabelSet: any MetricSeries] = [:]
    }

    private let families: Mutex<[String: Family]>

    /// - Precondition: the names differ.
    package init(_ definitions: [MetricDefinition] = []) {
        families = Mutex(Dictionary(uniqueKeysWithValues: definitions.map { ($0.name, Family(definition: $0)) }))
    }

    /// Returns all metrics that have values, ordered by name and labels.
    package func text(_ format: MetricFormat) -> String {
        let families = families.withLock { $0.values.sorted { $0.definition.name < $1.definition.name } }
        var text = MetricText(format)
        for family in families where !family.series.isEmpty {
            text.begin(family.definition)
            for (labels, series) in family.series.sorted(by: { $0.key < $1.key }) {
                series.write(family.definition.name, labels, to: &text)
            }
        }
        text.end()
        return text.text
    }

    // MARK: - MetricsFactory

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter) { _ in CounterSeries() }
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter) { _ in CounterSeries() }
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge) { _ in GaugeSeries() }
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        if aggregate { return histogram(label, dimensions) }
        return series(label, dimensions, .gauge) { _ in GaugeSeries() }
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        histogram(label, dimensions)
    }

    private func histogram(_ name: String, _ labels: [(String, String)]) -> HistogramSeries {
        series(name, labels, .requestSeconds) { kind in
            guard case .histogram(let bounds) = kind else { return HistogramSeries(bounds: []) }
            return HistogramSeries(bounds: bounds)
        }
    }

    /// Returns the series of a metric, whose labels must be those of its declaration. If the metric was declared with another kind, the
    /// series is not exported.
    private func series<Series: MetricSeries>(
        _ name: String,
        _ labels: [(String, String)],
        _ kind: MetricDefinition.Kind,
        _ make: (MetricDefinition.Kind) -> Series
    ) -> Series {
        let name = LabelSet.identifier(name)
        let set = LabelSet(labels)
        return families.withLock { families in
            let family = families[name] ?? Family(definition: MetricDefinition(name, kind, ""))
            if let known = family.series[set] { return known as? Series ?? make(kind) }
            assert(
                families[name].map { $0.definition.labels == labels.map(\.0) } ?? true,
                "\(name) has other labels than declared"
            )
            let series = make(family.definition.kind)
            guard family.definition.kind.name == kind.name else { return series }
            families[name, default: family].series[set] = series
            return series
        }
    }

    package func destroyCounter(_ handler: any CounterHandler) { remove(handler) }
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) { remove(handler) }
    package func destroyMeter(_ handler: any MeterHandler) { remove(handler) }
    package func destroyRecorder(_ handler: any RecorderHandler) { remove(handler) }
    package func destroyTimer(_ handler: any TimerHandler) { remove(handler) }

    private func remove(_ handler: AnyObject) {
        families.withLock { families in
            for (name, family) in families {
                guard let key = family.series.first(where: { $0.value === handler })?.key else { continue }
                families[name]!.series[key] = nil
            }
        }
    }
}
