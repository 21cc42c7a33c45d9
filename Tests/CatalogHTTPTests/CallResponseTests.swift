import Catalog
import CatalogJSON
import Crypto
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import CatalogHTTP

/// The responses that handlers make.
@Suite(.timeLimit(.minutes(15))) struct CallResponseTests {
    /// Returns the fields of a response, without its length.
    private static func fields(_ response: Response) -> [String: String] {
        Dictionary(
            uniqueKeysWithValues: response.headers.map { ($0.name.canonicalName, $0.value) }
                .filter { $0.0 != "content-length" }
        )
    }

    private static let bytes = Array(#"{"a":1}"#.utf8)
    /// The first 12 bytes of the hash of the body.
    private static let tag = "\"\(Base64URL.encode(Array(SHA256.hash(data: bytes).prefix(12))))\""

    @Test("A hashed response has the hash of its bytes as its tag, and is not sent to a client that has it")
    func hashed() async throws {
        #expect(Call.hash(Self.bytes) == Self.tag)
        let call = try Call.sample(.get, "/a")
        let response = call.hashed(Self.bytes)
        #expect(response.status == .ok)
        #expect(
            Self.fields(response) == [
                "content-type": "application/json", "cache-control": "public, no-cache", "etag": Self.tag,
            ]
        )
        #expect(try await response.bytes() == Self.bytes)
        let known = try Call.sample(.get, "/a", ["If-None-Match": Self.tag]).hashed(
            Self.bytes,
            headers: [.vary: "Accept"]
        )
        #expect(known.status == .notModified)
        #expect(
            Self.fields(known) == ["cache-control": "public, no-cache", "etag": Self.tag, "vary": "Accept"]
        )
        #expect(try await known.bytes().isEmpty)
        #expect(try Call.sample(.get, "/a", ["If-None-Match": "\"other\""]).hashed(Self.bytes).status == .ok)
    }

    @Test("Private data varies by the token, and is cached by its user only")
    func hashedPrivate() throws {
        let headers = ["cache-control": "private, no-cache", "etag": Self.tag, "vary": "Authorization"]
        let response = try Call.sample(.get, "/a").hashedPrivate(Self.bytes)
        #expect(Self.fields(response) == headers.merging(["content-type": "application/json"]) { $1 })
        let known = try Call.sample(.get, "/a", ["If-None-Match": Self.tag]).hashedPrivate(Self.bytes)
        #expect(known.status == .notModified && Self.fields(known) == headers)
    }

    @Test("A body with a known tag is not made")
    func bodiesAreMadeOnlyIfNeeded() throws {
        func failing() -> [UInt8] {
            Issue.record("the body was made")
            return []
        }
        let call = try Call.sample(.get, "/a", ["If-None-Match": "\"7\""])
        #expect(call.tagged("\"7\"", cache: "no-store", failing()).status == .notModified)
        let other = call.tagged("\"8\"", cache: "no-store", headers: [.vary: "x"], Self.bytes)
        #expect(
            Self.fields(other) == [
                "content-type": "application/json", "cache-control": "no-store", "etag": "\"8\"", "vary": "x",
            ]
        )
    }

    @Test("A write returns 201 with the address of a new resource, and 200 otherwise, with the tag of a read")
    func written() throws {
        let call = try Call.sample(.put, "/v1/stores/s?x=1", template: "/v1/stores/{store}")
        let created = call.written(true, Self.bytes)
        #expect(created.status == .created)
        let common = ["content-type": "application/json", "cache-control": "no-cache", "etag": Self.tag]
        #expect(Self.fields(created) == common.merging(["location": "/v1/stores/s"]) { $1 })
        let replaced = call.written(false, Self.bytes)
        #expect(replaced.status == .ok && Self.fields(replaced) == common)
    }

    @Test("The responses of a setting have its revision as their tag, and those to a PUT are always whole")
    func settings() throws {
        let headers = ["cache-control": "private, no-cache", "etag": "\"7\"", "vary": "Authorization"]
        let known = ["If-None-Match": "\"7\""]
        let read = try Call.sample(.get, "/a").setting(Self.bytes, revision: 7)
        #expect(read.status == .ok)
        #expect(Self.fields(read) == headers.merging(["content-type": "application/json"]) { $1 })
        let unchanged = try Call.sample(.get, "/a", known).setting(Self.bytes, revision: 7)
        #expect(unchanged.status == .notModified && Self.fields(unchanged) == headers)
        let written = try Call.sample(.put, "/a", known).setting(Self.bytes, revision: 7)
        #expect(written.status == .ok)
        #expect(Self.fields(written) == headers.merging(["content-type": "application/json"]) { $1 })
    }

    @Test("The outcome of a write is not stored in caches, and a plain text neither")
    func outcomes() async throws {
        let outcome = Response.outcome(Self.bytes)
        #expect(outcome.status == .ok)
        #expect(Self.fields(outcome) == ["content-type": "application/json", "cache-control": "no-store"])
        #expect(try await outcome.bytes() == Self.bytes)
        let other = Response.outcome(Self.bytes, status: .accepted, mediaType: "text/x", tag: "\"order-7\"")
        #expect(other.status == .accepted)
        #expect(
            Self.fields(other) == ["content-type": "text/x", "cache-control": "no-store", "etag": "\"order-7\""]
        )
        let plain = Response.plain("ok\n")
        #expect(plain.status == .ok && plain.body.contentLength == 3)
        #expect(
            Self.fields(plain) == ["content-type": "text/plain; charset=utf-8", "cache-control": "no-store"]
        )
        #expect(try await plain.bytes() == Array("ok\n".utf8))
        #expect(Response.noContent.status == .noContent && Self.fields(.noContent).isEmpty)
        #expect(Call.orderTag(7) == "\"order-7\"")
    }

    @Test("JSON without a tag must be revalidated, and keeps the other headers")
    func json() throws {
        let response = Response.json(Self.bytes, status: .created, headers: [.vary: "x"])
        #expect(response.status == .created)
        #expect(
            Self.fields(response) == [
                "content-type": "application/json", "cache-control": "no-cache", "vary": "x",
            ]
        )
    }

    @Test("The Link header names the next page if it has at most 4,096 bytes, and is missing after the last page")
    func links() throws {
        let call = try Call.sample(.get, "/v1/stores?sort=name")
        let link = HTTPField.Name("Link")!
        #expect(call.nextLink("limit=2", nil).isEmpty)
        #expect(call.nextLink("limit=2", "abc") == [link: #"</v1/stores?limit=2&cursor=abc>; rel="next""#])
        let frame = #"</v1/stores?limit=2&cursor=>; rel="next""#.utf8.count
        let longest = call.nextLink("limit=2", String(repeating: "c", count: 4096 - frame))
        #expect(longest[link]?.utf8.count == 4096)
        #expect(call.nextLink("limit=2", String(repeating: "c", count: 4097 - frame)).isEmpty)
    }

    private final class Pieces: ResponseBodyWriter {
        private(set) var sizes: [Int] = []
        private(set) var bytes: [UInt8] = []
        private(set) var isFinished = false

        func write(_ buffer: ByteBuffer) {
            sizes.append(buffer.readableBytes)
            bytes += Array(buffer: buffer)
        }

        func finish(_ trailingHeaders: HTTPFields?) { isFinished = true }
    }

    @Test(
        "A body of more than 64 KiB is written in pieces of that size",
        arguments: [
            (0, [0]), (65_536, [65_536]), (65_537, [65_536, 1]), (131_072, [65_536, 65_536]),
            (131_073, [65_536, 65_536, 1]),
        ]
    )
    func chunks(count: Int, sizes: [Int]) async throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let body = ResponseBody.chunked(bytes)
        #expect(body.contentLength == count)
        let pieces = Pieces()
        try await body.write(pieces)
        #expect(pieces.bytes == bytes)
        #expect(pieces.isFinished)
        #expect(pieces.sizes == sizes)
    }

    @Test("A collected body has all pieces in order")
    func collectsBodies() {
        let body = CollectedBody()
        #expect(body.buffer == nil)
        for text in ["ab", "c", "def"] { body.write(ByteBuffer(string: text)) }
        #expect(body.buffer.map { String(buffer: $0) } == "abcdef")
    }

    // MARK: - Files

    private static let text = Array(String(repeating: "a compressible text ", count: 100).utf8)

    @Test("A file has the hash of its bytes as its tag, and a compressed form if that is smaller")
    func files() throws {
        let file = StaticFile(Self.text, "text/x")
        #expect(file.tag == Call.hash(Self.text) && file.mediaType == "text/x" && file.bytes == Self.text)
        #expect(try #require(file.gzip).count < Self.text.count)
        #expect(StaticFile(Self.text, "text/x", isCompressed: false).gzip == nil)
        #expect(StaticFile([1, 2, 3], "text/x").gzip == nil)
    }

    @Test("A file is sent in the form that the client accepts, with its headers")
    func fileResponses() async throws {
        let file = StaticFile(Self.text, "text/x")
        let plain = try Call.sample(.get, "/a").file(file)
        #expect(
            Self.fields(plain) == [
                "content-type": "text/x", "cache-control": "public, no-cache", "etag": file.tag,
                "vary": "Accept-Encoding",
            ]
        )
        #expect(try await plain.bytes() == Self.text)
        let headers = ["Accept-Encoding": "gzip"]
        let gzip = try Call.sample(.get, "/a", headers).file(file, cache: "c", headers: [.location: "l"])
        #expect(
            Self.fields(gzip) == [
                "content-type": "text/x", "cache-control": "c", "etag": ContentCoding.gzipTag(file.tag),
                "vary": "Accept-Encoding", "content-encoding": "gzip", "location": "l",
            ]
        )
        #expect(try await gzip.bytes() == file.gzip)
        let known = try Call.sample(.get, "/a", ["If-None-Match": file.tag]).file(file, cache: "c")
        #expect(known.status == .notModified)
        #expect(Self.fields(known) == ["cache-control": "c", "etag": file.tag, "vary": "Accept-Encoding"])
        let small = try Call.sample(.get, "/a", headers).file(StaticFile([1, 2, 3], "text/x"))
        #expect(small.headers[.contentEncoding] == nil)
        #expect(try await small.bytes() == [1, 2, 3])
    }
}
