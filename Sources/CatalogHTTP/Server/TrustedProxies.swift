internal import Catalog
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// The proxies whose `X-Forwarded-For` is trusted.
package struct TrustedProxies: Sendable {
    private let ranges: [NetworkRange]

    package init(_ ranges: [NetworkRange] = []) { self.ranges = ranges }

    /// The ranges as they were configured.
    package var texts: [String] { ranges.map(\.text) }

    /// Returns the address of the client: the last one in the chain of proxies that is not a trusted proxy.
    ///
    /// Each proxy appends the address that it was called from, perhaps with a port, so the chain is read from its end.
    /// Entries before the first untrusted address may be forged.
    ///
    /// - Parameters:
    ///   - peer: the address of the connection; nil for a Unix socket.
    ///   - forwarded: the value of `X-Forwarded-For`; evaluated only for a trusted proxy.
    func client(_ peer: NetworkAddress?, forwarded: @autoclosure () -> String) -> NetworkAddress? {
        guard var client = peer, isTrusted(client) else { return peer }
        for entry in forwarded().split(separator: ",").reversed() {
            let text = entry.trimming { $0 == " " || $0 == "\t" }
            guard let previous = NetworkAddress(text) ?? NetworkAddress(withPort: text) else { break }
            client = previous
            if !isTrusted(client) { break }
        }
        return client
    }

    /// Returns the address of the client that sent a request; nil for a Unix socket.
    func client(of request: Request, from peer: SocketAddress?) -> NetworkAddress? {
        client(
            peer.flatMap { NetworkAddress($0) },
            forwarded: request.headers[values: .forwardedFor].joined(separator: ",")
        )
    }

    /// Returns the client that sent a request without a token.
    func anonymous(_ request: Request, from peer: SocketAddress?) -> Client {
        client(of: request, from: peer).map { .address($0.client) } ?? .local
    }

    func isTrusted(_ address: NetworkAddress) -> Bool { ranges.contains { $0.contains(address) } }
}

extension Substring {
    /// Returns the text without leading and trailing characters that match.
    fileprivate func trimming(_ matches: (Character) -> Bool) -> Substring {
        var text = drop(while: matches)
        while let last = text.last, matches(last) { text.removeLast() }
        return text
    }
}
