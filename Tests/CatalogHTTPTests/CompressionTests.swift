import HTTPTypes
import Platform
import TestSupport
import Testing

@testable import CatalogHTTP

@Suite("Compression", .timeLimit(.minutes(2))) struct CompressionTests {
    private static let page = "/v1/stores/s/shelves/dairy/products?sort=price"
    private static let gzip = ["Accept-Encoding": "br, gzip;q=0.8"]

    @Test(
        "A client accepts gzip if its header names it, or any coding, with a weight above zero",
        arguments: [
            ("gzip", true), ("br, gzip", true), ("GZIP;q=0.5", true), ("x-gzip", true), ("*", true),
            ("gzip ; q = 1", true), ("", false), ("br", false), ("gzip;q=0", false), ("gzip;q=0.000, *", false),
            ("*;q=0", false), ("*;q=0, gzip", true), ("identity", false), ("gzip;q=x", false), ("notgzip", false),
        ]
    )
    func acceptsGzip(header: String, isAccepted: Bool) {
        #expect(ContentCoding.acceptsGzip(header) == isAccepted)
    }

    @Test("Without the header, nothing is compressed") func missingHeader() {
        #expect(!ContentCoding.acceptsGzip(nil))
    }

    @Test("Compressed bytes decompress to the same bytes", arguments: [0, 1, 100, 100_000])
    func compressesBytes(count: Int) throws {
        for bytes in [
            [UInt8](repeating: 65, count: count), (0..<count).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) },
        ] {
            #expect(try gunzip(try #require(Gzip.compress(bytes))) == bytes)
        }
    }

    @Test("A file is sent compressed with a tag of its own, and both tags are known")
    func compressesFiles() async throws {
        let api = await MemoryAPI()
        let plain = try await api.send(.get, "/openapi.json", nil, as: nil)
        let compressed = try await api.send(.get, "/openapi.json", nil, as: nil, Self.gzip)
        #expect(plain.headers[.contentEncoding] == nil)
        #expect(plain.body == OpenAPI.document)
        #expect(compressed.headers[.contentEncoding] == "gzip")
        #expect(compressed.headers[.contentType] == "application/json")
        #expect(compressed.body.count < plain.body.count / 5)
        #expect(try gunzip(compressed.body) == plain.body)
        #expect(plain.headers[.eTag] != compressed.headers[.eTag])
        for response in [plain, compressed] {
            let tag = try #require(response.headers[.eTag])
            #expect(response.headers[.vary] == "Accept-Encoding")
            let known = try await api.send(
                .get,
                "/openapi.json",
                nil,
                as: nil,
                Self.gzip.merging(["If-None-Match": tag]) { $1 }
            )
            #expect(known.status == 304)
            #expect(known.headers[.eTag] == tag)
            #expect(known.headers[.vary] == "Accept-Encoding")
            // Without gzip, a cache must not use its compressed form.
            let other = try await api.send(.get, "/openapi.json", nil, as: nil, ["If-None-Match": tag])
            #expect(other.status == (response.headers[.contentEncoding] == nil ? 304 : 200))
        }
    }

    @Test("A page of the cache is compressed from the second time that a client accepts it")
    func compressesPages() async throws {
        let api = try await MemoryAPI.withShelf()
        for n in 0..<20 {
            _ = try await api.send(.put, "/v1/stores/s/products/p\(n)", #"{"name":"Milk \#(n)","price_minor":\#(n)}"#)
            _ = try await api.send(.put, "/v1/stores/s/shelves/dairy/products/p\(n)")
        }
        let plain = try await api.send(.get, Self.page, nil, as: nil)
        #expect(plain.headers[.vary] == "Accept-Encoding")
        let first = try await api.send(.get, Self.page, nil, as: nil, Self.gzip)
        #expect(first.headers[.contentEncoding] == nil)
        let deadline = ContinuousClock.now + .seconds(60)
        var compressed = first
        while compressed.headers[.contentEncoding] == nil, ContinuousClock.now < deadline {
            compressed = try await api.send(.get, Self.page, nil, as: nil, Self.gzip)
            await Task.yield()
        }
        #expect(compressed.headers[.contentEncoding] == "gzip")
        #expect(try gunzip(compressed.body) == plain.body)
        let again = try await api.send(.get, Self.page, nil, as: nil)
        #expect(again.body == plain.body)
        #expect(again.headers[.contentEncoding] == nil)
        for tag in [plain.headers[.eTag]!, compressed.headers[.eTag]!] {
            let known = try await api.send(
                .get,
                Self.page,
                nil,
                as: nil,
                Self.gzip.merging(["If-None-Match": tag]) { $1 }
            )
            #expect(known.status == 304)
            #expect(known.headers[.eTag] == tag)
        }
        #expect(compressed.headers[.eTag] != plain.headers[.eTag])
        let own = try await api.send(.get, "/v1/stores/s/shelves/dairy/products")
        #expect(own.headers[.vary] == "Authorization, Accept-Encoding")
        #expect(own.headers[.cacheControl] == "private, no-cache")
        // A change invalidates both entity tags.
        _ = try await api.send(.patch, "/v1/stores/s/products/p1", #"{"price_minor":99}"#)
        for tag in [plain.headers[.eTag]!, compressed.headers[.eTag]!] {
            let changed = try await api.send(.get, Self.page, nil, as: nil, ["If-None-Match": tag])
            #expect(changed.status == 200)
        }
    }
}
