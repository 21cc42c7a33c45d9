/// Metrics as text.
struct MetricText {
    let format: MetricFormat
    private(set) var text = ""

    init(_ format: MetricFormat) { self.format = format }

    /// Begins the samples of a metric.
    mutating func begin(_ definition: MetricDefinition) {
        // In OpenMetrics, the family of a counter has the name without the suffix of its sample.
        var name = definition.name
        if format == .openMetrics, definition.kind == .counter, name.hasSuffix("_total") {
            name = String(name.dropLast("_total".count))
        }
        if !definition.help.isEmpty { text += "# HELP \(name) \(Self.escapedHelp(definition.help, format))\n" }
        text += "# TYPE \(name) \(definition.kind.name)\n"
    }

    mutating func sample(_ name: String, _ labels: LabelSet, _ value: Double) {
        text += name
        if !labels.text.isEmpty { text += "{\(labels.text)}" }
        text += " \(Self.number(value))\n"
    }

    /// Ends the text.
    mutating func end() { if format == .openMetrics { text += "# EOF\n" } }

    /// - Parameter asBound: whether an integer is written with a fraction, as OpenMetrics requires of bounds.
    static func number(_ value: Double, asBound: Bool = false) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if !asBound, let integer = Int64(exactly: value) { return "\(integer)" }
        return "\(value)"
    }

    private static func escapedHelp(_ help: String, _ format: MetricFormat) -> String {
        let escaped = help.split(separator: "\\", omittingEmptySubsequences: false).joined(separator: "\\\\")
            .split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\\n")
        guard format == .openMetrics else { return escaped }
        return escaped.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
    }
}
