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
