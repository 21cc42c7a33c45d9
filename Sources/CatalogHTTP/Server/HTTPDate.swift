internal import Glibc
internal import Synchronization

/// The value of the header `Date` (RFC 9110, section 5.6.7).
package enum HTTPDate {
    private static let last = Mutex<(second: time_t, text: String)>((-1, ""))

    /// Returns the current time, formatted once per second.
    static func now() -> String {
        let second = time(nil)
        return last.withLock { last in
            if last.second != second { last = (second, text(second)) }
            return last.text
        }
    }

    /// Returns a time in seconds since 1970-01-01T00:00:00Z.
    package static func text(_ second: Int) -> String {
        var second = second
        var parts = tm()
        gmtime_r(&second, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 40) { buffer in
            // The process never leaves the locale “C”, so the names are English.
            let length = strftime(buffer.baseAddress!, buffer.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
            return String(
                decoding: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer)[..<length]),
                as: UTF8.self
            )
        }
    }
}
