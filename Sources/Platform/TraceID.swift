/// The 128-bit id of a trace. Source: W3C Trace Context, section 3.2.2.3.
package struct TraceID: Sendable, Hashable {
    package let high: UInt64
    package let low: UInt64

    /// Returns nil for the id 0, which is invalid.
    package init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        self.high = high
        self.low = low
    }

    /// The id as 32 lower-case hexadecimal digits.
    package var text: String {
        String(unsafeUninitializedCapacity: 32) { buffer in
            Hexadecimal.write(high, to: UnsafeMutableBufferPointer(rebasing: buffer[..<16]))
            Hexadecimal.write(low, to: UnsafeMutableBufferPointer(rebasing: buffer[16..<32]))
            return 32
        }
    }
}

/// The 64-bit id of a span. Source: W3C Trace Context, section 3.2.2.4.
package struct SpanID: Sendable, Hashable {
    package let value: UInt64

    /// Returns nil for the id 0, which is invalid.
    package init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// The id as 16 lower-case hexadecimal digits.
    package var text: String {
        String(unsafeUninitializedCapacity: 16) { buffer in
            Hexadecimal.write(value, to: UnsafeMutableBufferPointer(rebasing: buffer[..<16]))
            return 16
        }
    }
}
