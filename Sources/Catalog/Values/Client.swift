/// The client that work is counted for.
package enum Client: Hashable, Sendable {
    case user(UserID)
    /// A client without a token: the bytes of its IPv4 address, or of its IPv6 network of 64 bits.
    case address([UInt8])
    /// A client without an address: a Unix socket.
    case local

    /// The network of the client, for logs; nil for a user or a client without an address.
    package var text: String? {
        guard case .address(let bytes) = self else { return nil }
        if bytes.count == 4 { return bytes.map { "\($0)" }.joined(separator: ".") }
        let groups = stride(from: 0, to: bytes.count - 1, by: 2).map { index in
            String(Int(bytes[index]) << 8 | Int(bytes[index + 1]), radix: 16)
        }
        return groups.joined(separator: ":") + "::/64"
    }

    /// Whether the client has no token.
    var isAnonymous: Bool {
        switch self {
        case .user: false
        case .address, .local: true
        }
    }
}
