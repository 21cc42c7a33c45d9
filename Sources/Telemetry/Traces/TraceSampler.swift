package import Platform

/// Decides which traces are recorded. Source: OpenTelemetry SDK configuration, `OTEL_TRACES_SAMPLER`.
package struct TraceSampler: Sendable, Equatable {
    /// The decision for a trace that begins here.
    package enum Root: Sendable, Equatable {
        case always
        case never
        /// A fraction of traces, from 0 to 1, chosen by their ids, so that all servers with this fraction choose the same ones.
        case ratio(Double)
    }

    package let root: Root
    /// Whether a trace that another server began keeps that server's decision.
    package let followsParent: Bool

    package init(_ root: Root, followsParent: Bool = true) {
        self.root = root
        self.followsParent = followsParent
    }

    package func isSampled(_ trace: TraceID, parent: TraceParent?) -> Bool {
        if followsParent, let parent { return parent.isSampled }
        switch root {
        case .always: return true
        case .never: return false
        case .ratio(let ratio): return ratio >= 1 || Double(trace.low >> 1) < ratio * 0x1p63
        }
    }

    /// The names of the samplers, as in `OTEL_TRACES_SAMPLER`.
    package static let names = [
        "always_on", "always_off", "traceidratio", "parentbased_always_on", "parentbased_always_off",
        "parentbased_traceidratio",
    ]

    /// Returns the sampler with a name; nil for an unknown name.
    ///
    /// - Parameter ratio: the fraction of a sampler by ratio.
    package init?(name: String, ratio: Double) {
        guard Self.names.contains(name) else { return nil }
        followsParent = name.hasPrefix("parentbased_")
        root = name.hasSuffix("always_on") ? .always : name.hasSuffix("always_off") ? .never : .ratio(ratio)
    }

    /// The name, as in `OTEL_TRACES_SAMPLER`.
    package var name: String {
        let root =
            switch root {
            case .always: "always_on"
            case .never: "always_off"
            case .ratio: "traceidratio"
            }
        return followsParent ? "parentbased_\(root)" : root
    }
}
