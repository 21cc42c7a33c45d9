/// The position of a request in a trace, as the headers `traceparent` and `tracestate` carry it.
///
/// Source: W3C Trace Context, levels 1 and 2.
package struct TraceParent: Sendable, Hashable {
    /// The names of the headers.
    package static let header = "traceparent"
    package static let stateHeader = "tracestate"

    /// The maximum length of a `tracestate` that is passed on, in bytes. Section 3.3.1.5 requires at least this much.
    package static let stateLimit = 512

    package let trace: TraceID
    package let span: SpanID
    package let isSampled: Bool
    /// Whether at least the right-most 7 bytes of the trace id are random (level 2).
    package let isRandom: Bool
    /// The vendors' entries of `tracestate`, passed on unchanged; nil without any.
    package let state: String?

    package init(trace: TraceID, span: SpanID, isSampled: Bool, isRandom: Bool = true, state: String? = nil) {
        self.trace = trace
        self.span = span
        self.isSampled = isSampled
        self.isRandom = isRandom
        self.state = state
    }

    /// Parses the headers; nil unless `traceparent` is valid. An invalid or long `tracestate` is ignored.
    package init?(_ text: String, state: String? = nil) {
        let bytes = Array(text.utf8.prefix(Self.lengthLimit + 1))
        guard bytes.count >= Self.length, bytes.count <= Self.lengthLimit,
            let version = Hexadecimal.number(bytes[0..<2]), version != 0xFF,
            // A future version may have more fields.
            bytes.count == Self.length || version > 0 && bytes[Self.length] == UInt8(ascii: "-"),
            [2, 35, 52].allSatisfy({ bytes[$0] == UInt8(ascii: "-") }),
            let high = Hexadecimal.number(bytes[3..<19]), let low = Hexadecimal.number(bytes[19..<35]),
            let trace = TraceID(high: high, low: low),
            let span = Hexadecimal.number(bytes[36..<52]).flatMap(SpanID.init),
            let flags = Hexadecimal.number(bytes[53..<55])
        else { return nil }
        self.init(
            trace: trace,
            span: span,
            isSampled: flags & 1 != 0,
            isRandom: flags & 2 != 0,
            state: state.flatMap(Self.validState)
        )
    }

    /// The header, in version 00.
    package var text: String {
        String(unsafeUninitializedCapacity: Self.length) { buffer in
            buffer[0] = UInt8(ascii: "0")
            buffer[1] = UInt8(ascii: "0")
            for position in [2, 35, 52] { buffer[position] = UInt8(ascii: "-") }
            Hexadecimal.write(trace.high, to: UnsafeMutableBufferPointer(rebasing: buffer[3..<19]))
            Hexadecimal.write(trace.low, to: UnsafeMutableBufferPointer(rebasing: buffer[19..<35]))
            Hexadecimal.write(span.value, to: UnsafeMutableBufferPointer(rebasing: buffer[36..<52]))
            buffer[53] = UInt8(ascii: "0")
            buffer[54] = UInt8(ascii: "0") + flags
            return Self.length
        }
    }

    /// The flags `sampled` and `random`.
    package var flags: UInt8 { (isSampled ? 1 : 0) | (isRandom ? 2 : 0) }

    /// The length of the header in version 00, in bytes.
    private static let length = 55
    /// The maximum length of the header of a future version, in bytes.
    private static let lengthLimit = 256

    private static func validState(_ text: String) -> String? {
        let isValid = text.utf8.count <= stateLimit && text.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x09 }
        return isValid && text.utf8.contains(UInt8(ascii: "=")) ? text : nil
    }
}
