internal import Platform
internal import Tracing

/// Writes spans in the JSON format of OTLP, directly to bytes.
///
/// Source: OpenTelemetry protocol 1.x, JSON Protobuf encoding: ids are hexadecimal, and 64-bit integers are strings.
struct SpanEncoder {
    /// The bytes before the first span: resource and scope.
    private let opening: [UInt8]

    /// - Parameters:
    ///   - resource: the attributes of the process.
    ///   - version: the version of the program.
    init(resource: [(name: String, value: String)], version: String) {
        var json = SpanJSON()
        json.raw(#"{"resourceSpans":[{"resource":{"attributes":["#)
        for (index, attribute) in resource.enumerated() {
            if index > 0 { json.raw(",") }
            json.attribute(attribute.name, .string(attribute.value))
        }
        json.raw(#"]},"scopeSpans":[{"scope":{"name":"aisle","version":"#)
        json.string(version)
        json.raw(#"},"spans":["#)
        opening = json.bytes
    }

    /// Returns an export request.
    func encode(_ spans: [FinishedSpan]) -> [UInt8] {
        var json = SpanJSON(reserving: opening.count + spans.reduce(0) { $0 + 512 * $1.count })
        opening.withUnsafeBufferPointer { json.append($0) }
        for (index, span) in spans.enumerated() {
            if index > 0 { json.raw(",") }
            Self.write(span, to: &json)
            for child in span.children {
                json.raw(",")
                Self.write(child, to: &json)
            }
        }
        json.raw("]}]}]}")
        return json.bytes
    }

    private static func write(_ span: FinishedSpan, to json: inout SpanJSON) {
        write(span.position, to: &json)
        if let parent = span.parent {
            json.raw(#","parentSpanId":""#)
            json.hexadecimal(parent.value)
            json.raw("\"")
        }
        json.raw(#","flags":"#)
        json.number(UInt64(span.position.flags))
        json.raw(#","name":"#)
        json.string(span.name)
        json.raw(#","kind":"#)
        json.number(kind(span.kind))
        json.raw(#","startTimeUnixNano":""#)
        json.number(span.start)
        json.raw(#"","endTimeUnixNano":""#)
        json.number(span.end)
        json.raw("\"")
        json.attributes(span.attributes, span.fields)
        json.array("events", span.events) { json, event in
            json.raw(#"{"timeUnixNano":""#)
            json.number(event.nanosecondsSinceEpoch)
            json.raw(#"","name":"#)
            json.string(event.name)
            json.attributes(event.attributes)
            json.raw("}")
        }
        json.array("links", span.links.filter { $0.context.traceParent != nil }) { json, link in
            if let position = link.context.traceParent { write(position, to: &json) }
            json.attributes(link.attributes)
            json.raw("}")
        }
        if let status = span.status {
            json.raw(#","status":{"code":"#)
            json.number(status.code == .ok ? 1 : 2)
            if let message = status.message {
                json.raw(#","message":"#)
                json.string(message)
            }
            json.raw("}")
        }
        json.raw("}")
    }

    /// Begins an object with the ids of a position.
    private static func write(_ position: TraceParent, to json: inout SpanJSON) {
        json.raw(#"{"traceId":""#)
        json.hexadecimal(position.trace.high)
        json.hexadecimal(position.trace.low)
        json.raw(#"","spanId":""#)
        json.hexadecimal(position.span.value)
        json.raw("\"")
        if let state = position.state {
            json.raw(#","traceState":"#)
            json.string(state)
        }
    }

    private static func kind(_ kind: SpanKind) -> UInt64 {
        switch kind {
        case .internal: 1
        case .server: 2
        case .client: 3
        case .producer: 4
        case .consumer: 5
        }
    }
}
