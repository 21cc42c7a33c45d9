import Foundation
import Glibc

/// Returns a socket that listens on a free port of the loopback address, and the port.
///
/// - Throws: `POSIXError`.
func listeningSocket() throws -> (descriptor: Int32, port: Int) {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isListening = withUnsafeMutablePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0
                && getsockname(descriptor, $0, &length) == 0
        }
    }
    guard isListening else { throw POSIXError(.EADDRINUSE) }
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
}
