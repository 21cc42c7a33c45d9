internal import NIOCore

/// Finds the ends of HTTP/1.1 responses that have a `Content-Length` or no body.
struct ResponseParser {
    private var received = ByteBuffer()
    /// The bytes of the body that are still to come; nil before the end of the head.
    private var remaining: Int?
    private var status = 0

    /// Returns the status of the response that `bytes` completes; nil if it is not complete yet.
    ///
    /// - Throws: `LoadError.invalidResponse`.
    mutating func add(_ bytes: ByteBuffer) throws(LoadError) -> Int? {
        if let remaining {
            self.remaining = remaining - bytes.readableBytes
        } else {
            received.writeImmutableBuffer(bytes)
            guard let head = try Self.head(received) else { return nil }
            status = head.status
            remaining = head.length + head.bodyLength - received.readableBytes
            received.clear()
        }
        guard let remaining, remaining <= 0 else { return nil }
        guard remaining == 0 else { throw .invalidResponse }
        self.remaining = nil
        return status
    }

    /// Returns the status, and the lengths of head and body in bytes; nil if the head is not complete.
    private static func head(
        _ buffer: ByteBuffer
    ) throws(LoadError) -> (status: Int, length: Int, bodyLength: Int)? {
        let view = buffer.readableBytesView
        var (lineStart, status, bodyLength) = (view.startIndex, 0, 0)
        while let end = view[lineStart...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = view[lineStart..<end].prefix { $0 != UInt8(ascii: "\r") }
            if line.isEmpty { return (status, end + 1 - view.startIndex, bodyLength) }
            if lineStart == view.startIndex {
                guard let code = number(line.dropFirst(9).prefix(3)) else { throw .invalidResponse }
                status = code
            } else if line.count > 15, line.prefix(15).elementsEqual("content-length:".utf8, by: { $0 | 0x20 == $1 }) {
                guard let length = number(line.dropFirst(15).drop { $0 == UInt8(ascii: " ") }) else {
                    throw .invalidResponse
                }
                bodyLength = length
            }
            lineStart = end + 1
        }
        return nil
    }

    private static func number(_ digits: some Sequence<UInt8>) -> Int? {
        Int(String(decoding: Array(digits), as: UTF8.self))
    }
}

enum LoadError: Error {
    case invalidResponse
}
