/// An invalid environment variable of the tracing settings.
package struct TraceOptionsError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The variable, the violated rule, and the value unless it may be secret.
    package let description: String

    init(_ name: String, _ rule: String, got value: String) { description = "\(name) must be \(rule) (got “\(value)”)" }

    init(_ name: String, _ rule: String) { description = "\(name) must be \(rule)" }
}
