import Foundation

/// A client that sends raw bytes, for malformed requests. No call blocks for more than 30 seconds.
final class RawClient: @unchecked Sendable {
    let descriptor: Int32

    /// - Parameter receiveBuffer: the buffer size in bytes; nil for the system's default.
    init(_ port: Int, receiveBuffer: Int32? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var receiveBuffer {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        let status = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard status == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    }

    /// Returns the first bytes that arrive, at most 4 KiB.
    func receive() async -> String { await onOwnThread { $0.blockingReceive() } }

    /// Blocks the thread until bytes arrive and returns them, at most 4 KiB.
    func blockingReceive() -> String { String(decoding: piece(4096), as: UTF8.self) }

    /// Returns everything that the server sends before it closes the connection.
    func response() async -> String {
        await onOwnThread { client in
            var bytes: [UInt8] = []
            while true {
                let piece = client.piece(65_536)
                if piece.isEmpty { return String(decoding: bytes, as: UTF8.self) }
                bytes += piece
            }
        }
    }

    /// Waits for bytes and returns them; empty at the end of the connection, or after 30 seconds.
    private func piece(_ limit: Int) -> ArraySlice<UInt8> {
        var buffer = [UInt8](repeating: 0, count: limit)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return buffer.prefix(max(0, count))
    }

    /// Runs blocking calls on a thread of their own: the server under test needs the threads of Swift's tasks.
    private func onOwnThread(_ body: @escaping @Sendable (RawClient) -> String) async -> String {
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [self] in continuation.resume(returning: body(self)) }
        }
    }

    /// Closes the connection.
    func disconnect() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
