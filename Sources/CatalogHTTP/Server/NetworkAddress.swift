internal import Glibc
package import NIOCore

/// An IPv4 or IPv6 address. An IPv4-mapped IPv6 address is stored as its IPv4 address.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// 4 or 16 bytes.
    let bytes: [UInt8]

    /// - Parameter text: an IPv4 address, or an IPv6 address in brackets, with a port.
    init?(withPort text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), UInt16(text[text.index(after: colon)...]) != nil else { return nil }
        let address = text[..<colon]
        guard address.hasSuffix("]") || !address.contains(":") else { return nil }
        self.init(address)
    }

    /// - Parameter text: without a port; an IPv6 address may be in brackets, and have a zone.
    package init?(_ text: some StringProtocol) {
        var text = String(text)
        if text.hasPrefix("["), text.hasSuffix("]") { text = String(text.dropFirst().dropLast()) }
        if text.contains(":") { text = String(text.prefix { $0 != "%" }) }
        var all = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &all) == 1 {
            bytes = Array(all.prefix(4))
        } else if inet_pton(AF_INET6, text, &all) == 1 {
            let isMapped = all.prefix(10).allSatisfy { $0 == 0 } && all[10] == 0xFF && all[11] == 0xFF
            bytes = isMapped ? Array(all.suffix(4)) : all
        } else {
            return nil
        }
    }

    /// Returns nil for a Unix socket.
    package init?(_ address: SocketAddress) {
        guard let text = address.ipAddress else { return nil }
        self.init(text)
    }

    /// The address as text, such as `10.0.0.1` or `2001:db8::1`.
    package var description: String {
        let family = bytes.count == 4 ? AF_INET : AF_INET6
        return String(unsafeUninitializedCapacity: Int(INET6_ADDRSTRLEN)) { buffer in
            buffer.withMemoryRebound(to: CChar.self) { text in
                guard inet_ntop(family, bytes, text.baseAddress, socklen_t(text.count)) != nil else { return 0 }
                return strlen(text.baseAddress!)
            }
        }
    }

    /// The part of the address that identifies a client: of IPv6, the network of 64 bits, within which a client can choose.
    var client: [UInt8] { bytes.count == 16 ? Array(bytes.prefix(8)) : bytes }
}

/// A range of addresses, such as `10.0.0.0/8`, `fd00::/8` or a single address.
package struct NetworkRange: Hashable, Sendable {
    private let address: NetworkAddress
    /// The number of leading bits that all addresses share.
    private let bits: Int
    /// The range as it was configured.
    let text: String

    package init?(_ text: some StringProtocol) {
        self.text = String(text)
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = NetworkAddress(first) else { return nil }
        let width = address.bytes.count * 8
        guard let bits = parts.count == 2 ? Int(parts[1]) : width, (0...width).contains(bits) else { return nil }
        self.address = address
        self.bits = bits
    }

    func contains(_ other: NetworkAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = bits / 8
        guard other.bytes.prefix(whole) == address.bytes.prefix(whole) else { return false }
        guard bits % 8 > 0 else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> (bits % 8))
        return other.bytes[whole] & mask == address.bytes[whole] & mask
    }
}
