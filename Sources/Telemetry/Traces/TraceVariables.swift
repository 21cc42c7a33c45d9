/// Reads OpenTelemetry's environment variables.
struct TraceVariables {
    private let variables: [String: String]

    init(_ variables: [String: String]) { self.variables = variables }

    /// The value of a variable without surrounding spaces; nil if it is missing or empty.
    subscript(name: String) -> String? {
        guard let value = variables[name].map(Self.trimmed), !value.isEmpty else { return nil }
        return value
    }

    func flag(_ name: String) throws(TraceOptionsError) -> Bool {
        switch self[name]?.lowercased() {
        case nil, "false"?: false
        case "true"?: true
        default: throw TraceOptionsError(name, "true or false", got: self[name] ?? "")
        }
    }

    @discardableResult
    func choice(_ name: String, _ allowed: [String]) throws(TraceOptionsError) -> String? {
        guard let value = self[name], !allowed.contains(value) else { return self[name] }
        throw TraceOptionsError(name, allowed.joined(separator: " or "), got: value)
    }

    func milliseconds(_ name: String) throws(TraceOptionsError) -> Duration? {
        guard let text = self[name] else { return nil }
        guard let number = Int(text), (1...600_000).contains(number) else {
            throw TraceOptionsError(name, "a number of milliseconds between 1 and 600000", got: text)
        }
        return .milliseconds(number)
    }

    /// Returns the URL for spans; nil if none is set.
    func endpoint() throws(TraceOptionsError) -> String? {
        let names = (own: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", base: "OTEL_EXPORTER_OTLP_ENDPOINT")
        let base = try url(names.base)
        if let own = try url(names.own) { return own }
        guard var base else { return nil }
        guard !base.contains("?"), !base.contains("#") else {
            throw TraceOptionsError(
                names.base,
                "a URL without a query, because /v1/traces is appended; use \(names.own)"
            )
        }
        while base.hasSuffix("/") { base.removeLast() }
        return base + "/v1/traces"
    }

    /// A password in a URL would be shown with the settings, so the value is not repeated.
    private func url(_ name: String) throws(TraceOptionsError) -> String? {
        guard let text = self[name] else { return nil }
        let rest = ["http://", "https://"].lazy.filter { text.lowercased().hasPrefix($0) }.first.map {
            text.dropFirst($0.count)
        }
        let host = rest?.prefix { $0 != "/" && $0 != "?" && $0 != "#" } ?? ""
        guard !host.isEmpty, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            throw TraceOptionsError(name, "a URL that begins with http:// or https://")
        }
        guard !host.contains("@") else {
            throw TraceOptionsError(name, "a URL without a user and password; use OTEL_EXPORTER_OTLP_HEADERS")
        }
        return text
    }

    func sampler() throws(TraceOptionsError) -> TraceSampler {
        let ratio: Double
        if let text = self["OTEL_TRACES_SAMPLER_ARG"] {
            guard let number = Double(text), (0...1).contains(number) else {
                throw TraceOptionsError("OTEL_TRACES_SAMPLER_ARG", "a number from 0 to 1", got: text)
            }
            ratio = number
        } else {
            ratio = 1
        }
        let name = self["OTEL_TRACES_SAMPLER"] ?? "parentbased_always_on"
        guard let sampler = TraceSampler(name: name, ratio: ratio) else {
            let names = TraceSampler.names.joined(separator: ", ")
            throw TraceOptionsError("OTEL_TRACES_SAMPLER", "one of \(names)", got: name)
        }
        return sampler
    }

    /// Returns names and values, `name=value,name=value`, percent-decoded; nil if the variable is missing. The values may be secret,
    /// so an error does not repeat them.
    func pairs(_ name: String) throws(TraceOptionsError) -> [(name: String, value: String)]? {
        guard let text = self[name] else { return nil }
        var pairs: [(name: String, value: String)] = []
        for part in text.split(separator: ",") where !Self.trimmed(String(part)).isEmpty {
            guard let separator = part.firstIndex(of: "="),
                let key = Self.decoded(Self.trimmed(String(part[..<separator]))), !key.isEmpty,
                let value = Self.decoded(Self.trimmed(String(part[part.index(after: separator)...]))),
                !(key + value).utf8.contains(where: { $0 < 0x20 || $0 == 0x7F })
            else {
                throw TraceOptionsError(name, "a list of name=value, separated by commas and percent-encoded")
            }
            pairs.append((key, value))
        }
        return pairs
    }

    private static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }

    /// Returns a text without percent-encoding; nil if that is invalid.
    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(2)
            guard digits.count == 2, digits.allSatisfy({ $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-") }),
                let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            else { return nil }
            rest = rest.dropFirst(2)
            bytes.append(value)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
