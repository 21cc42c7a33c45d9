import Testing

@testable import CatalogHTTP

@Suite("Trusted proxies") struct TrustedProxiesTests {
    private static let proxies = TrustedProxies(["10.0.0.0/8", "fd00::/8", "127.0.0.1"].map { NetworkRange($0)! })

    @Test(
        "The client is the last address that is not a trusted proxy",
        arguments: [
            ("203.0.113.9", "198.51.100.1", "203.0.113.9"), ("10.1.2.3", "198.51.100.1", "198.51.100.1"),
            ("10.1.2.3", "1.1.1.1, 198.51.100.1, 10.9.9.9", "198.51.100.1"), ("10.1.2.3", "", "10.1.2.3"),
            ("10.1.2.3", "forged, 198.51.100.1", "198.51.100.1"), ("10.1.2.3", "198.51.100.1, nonsense", "10.1.2.3"),
            ("10.1.2.3", "10.0.0.7,10.0.0.8", "10.0.0.7"), ("fd12::1", " 2001:db8::5 ", "2001:db8::5"),
            ("::ffff:10.1.2.3", "198.51.100.1", "198.51.100.1"), ("127.0.0.1", "[2001:db8::5]", "2001:db8::5"),
            ("127.0.0.2", "198.51.100.1", "127.0.0.2"), ("127.0.0.1", "198.51.100.1:51234", "198.51.100.1"),
            ("127.0.0.1", "[2001:db8::5]:443", "2001:db8::5"), ("127.0.0.1", "2001:db8::5", "2001:db8::5"),
            ("127.0.0.1", "1.1.1.1,\t198.51.100.1\t", "198.51.100.1"), ("127.0.0.1", "198.51.100.1:x", "127.0.0.1"),
        ]
    )
    func clientIsFound(peer: String, forwarded: String, client: String) {
        #expect(Self.proxies.client(NetworkAddress(peer)!, forwarded: forwarded) == NetworkAddress(client)!)
    }

    @Test("Without trusted proxies, X-Forwarded-For is ignored")
    func headerIsIgnored() {
        let peer = NetworkAddress("10.1.2.3")!
        #expect(TrustedProxies().client(peer, forwarded: "198.51.100.1") == peer)
        #expect(Self.proxies.client(nil, forwarded: "198.51.100.1") == nil)
    }

    @Test(
        "A range has the addresses that share its bits",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false),
            ("192.0.2.128/25", "192.0.2.127", false),
            ("192.0.2.128/25", "192.0.2.200", true), ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false),
            ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
            ("192.0.2.1", "192.0.2.1", true), ("192.0.2.1", "192.0.2.2", false),
        ]
    )
    func rangesContainAddresses(range: String, address: String, isInside: Bool) throws {
        #expect(try #require(NetworkRange(range)).contains(try #require(NetworkAddress(address))) == isInside)
    }

    @Test(
        "An invalid range is rejected",
        arguments: ["", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0/8", "x", "::/129", "1.2.3.4/", "1.2.3.4:80"]
    )
    func otherTextsAreRejected(text: String) { #expect(NetworkRange(text) == nil) }

    @Test("A client can choose addresses in its IPv6 network, so the network counts")
    func networkCounts() {
        #expect(NetworkAddress("2001:db8:0:1::1")!.client == NetworkAddress("2001:db8:0:1:ffff::2")!.client)
        #expect(NetworkAddress("2001:db8:0:1::1")!.client != NetworkAddress("2001:db8:0:2::1")!.client)
        #expect(NetworkAddress("192.0.2.1")!.client != NetworkAddress("192.0.2.2")!.client)
    }
}
