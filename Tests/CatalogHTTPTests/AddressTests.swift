import Catalog
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import CatalogHTTP

/// Addresses of clients and proxies.
@Suite(.timeLimit(.minutes(15))) struct AddressTests {
    @Test(
        "An address with a port is an IPv4 address, or an IPv6 address in brackets",
        arguments: [
            ("192.0.2.1:80", "192.0.2.1"), ("192.0.2.1:0", "192.0.2.1"), ("192.0.2.1:65535", "192.0.2.1"),
            ("[2001:db8::1]:443", "2001:db8::1"), ("192.0.2.1", nil), ("192.0.2.1:", nil), ("192.0.2.1:65536", nil),
            ("192.0.2.1:-1", nil), ("192.0.2.1:x", nil), ("2001:db8::1:443", nil), ("[2001:db8::1]", nil),
            ("x:80", nil), (":80", nil), ("", nil),
        ] as [(String, String?)]
    )
    func addressesWithPorts(text: String, address: String?) {
        #expect(NetworkAddress(withPort: text)?.description == address)
    }

    @Test(
        "An address has 4 or 16 bytes, and an IPv4-mapped one is IPv4",
        arguments: [
            ("192.0.2.1", [192, 0, 2, 1]), ("::ffff:192.0.2.1", [192, 0, 2, 1]), ("[192.0.2.1]", [192, 0, 2, 1]),
            ("::1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            ("[::1]", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            ("fe80::1%eth0", [0xFE, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]),
            ("::fffe:192.0.2.1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFE, 192, 0, 2, 1]),
            ("::feff:192.0.2.1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFE, 0xFF, 192, 0, 2, 1]),
            ("1::ffff:192.0.2.1", [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 192, 0, 2, 1]),
            ("0:0:0:0:1:ffff:192.0.2.1", [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF, 192, 0, 2, 1]),
        ] as [(String, [UInt8])]
    )
    func bytes(text: String, bytes: [UInt8]) throws {
        #expect(try #require(NetworkAddress(text)).bytes == bytes)
    }

    @Test(
        "Other text is rejected",
        arguments: ["", "[", "[]", "[::1", "::1]", "192.0.2", "192.0.2.1%eth0", "x"]
    )
    func otherTexts(text: String) { #expect(NetworkAddress(text) == nil) }

    @Test("A socket has the address of its peer, and a Unix socket none")
    func sockets() throws {
        #expect(try NetworkAddress(SocketAddress(ipAddress: "192.0.2.1", port: 80))?.description == "192.0.2.1")
        #expect(try NetworkAddress(SocketAddress(ipAddress: "2001:db8::1", port: 80))?.description == "2001:db8::1")
        #expect(try NetworkAddress(SocketAddress(unixDomainSocketPath: "/run/aisle")) == nil)
    }

    @Test("A client is an IPv4 address, or a network of 64 bits")
    func clients() throws {
        #expect(NetworkAddress("192.0.2.1")?.client == [192, 0, 2, 1])
        #expect(NetworkAddress("2001:db8:1:2:3:4:5:6")?.client == [0x20, 0x01, 0x0D, 0xB8, 0, 1, 0, 2])
    }

    @Test("Ranges are shown as they were configured")
    func rangesAreShown() {
        let texts = ["10.0.0.0/8", "fd00::/8", "127.0.0.1"]
        #expect(TrustedProxies(texts.map { NetworkRange($0)! }).texts == texts)
        #expect(TrustedProxies().texts.isEmpty)
    }

    @Test(
        "A range has exactly the addresses that share its leading bits",
        arguments: [
            ("192.0.2.128/25", "192.0.2.128", true), ("192.0.2.128/25", "192.0.2.255", true),
            ("192.0.2.0/31", "192.0.2.1", true), ("192.0.2.0/31", "192.0.2.2", false),
            ("192.0.2.1/32", "192.0.2.1", true), ("192.0.2.1/32", "192.0.2.0", false),
            ("192.0.2.0/24", "192.0.3.0", false), ("192.0.2.0/23", "192.0.3.255", true),
            ("::/0", "2001:db8::1", true), ("::/0", "192.0.2.1", false), ("::1/128", "::1", true),
            ("::1/128", "::2", false),
        ]
    )
    func ranges(range: String, address: String, isInside: Bool) throws {
        #expect(try #require(NetworkRange(range)).contains(try #require(NetworkAddress(address))) == isInside)
    }

    private static let proxies = TrustedProxies([NetworkRange("10.0.0.0/8")!])

    private static func request(_ forwarded: String...) throws -> Request {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")
        for value in forwarded {
            head.headerFields.append(HTTPField(name: HTTPField.Name("X-Forwarded-For")!, value: value))
        }
        return Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    }

    @Test("Several headers X-Forwarded-For form one chain")
    func chains() throws {
        let request = try Self.request("198.51.100.1, 198.51.100.2", "10.0.0.9")
        let peer = try SocketAddress(ipAddress: "10.0.0.1", port: 80)
        #expect(Self.proxies.client(of: request, from: peer)?.description == "198.51.100.2")
        #expect(Self.proxies.anonymous(request, from: peer) == .address([198, 51, 100, 2]))
        let stranger = try SocketAddress(ipAddress: "192.0.2.1", port: 80)
        #expect(Self.proxies.client(of: request, from: stranger)?.description == "192.0.2.1")
        #expect(Self.proxies.anonymous(request, from: stranger) == .address([192, 0, 2, 1]))
        #expect(Self.proxies.client(of: request, from: nil) == nil)
        #expect(Self.proxies.anonymous(request, from: nil) == .local)
    }

    @Test("A call is charged to its user, or to the address without one")
    func clientsOfCalls() throws {
        let ann = Caller(user: UserID("ann")!, expiresAt: Timestamp(microseconds: 0), token: "t")
        #expect(try Call.sample(.get, "/a", caller: ann).client == .user(ann.user))
        #expect(try Call.sample(.get, "/a").client == .local)
    }

    @Test("The origin of a change names the user, the token and the request")
    func origins() throws {
        let ann = Caller(user: UserID("ann")!, expiresAt: Timestamp(microseconds: 0), token: "t")
        #expect(
            try Call.sample(.get, "/a", caller: ann).origin("r 1")
                == ChangeOrigin(source: .api, actor: "ann", token: "t", requestID: "r 1")
        )
        #expect(
            try Call.sample(.get, "/a").origin("r 2")
                == ChangeOrigin(source: .api, actor: "anonymous", requestID: "r 2")
        )
    }

    @Test("An endpoint that requires a user has a fault without one")
    func missingCallers() throws {
        let call = try Call.sample(.get, "/v1/a")
        #expect(throws: CatalogError.fault("/v1/a has no caller")) { try call.requiredCaller }
        #expect(throws: CatalogError.fault("/v1/a has no caller")) { try call.user }
    }
}
