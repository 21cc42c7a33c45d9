import Catalog
import CatalogJSON
import Crypto
import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import Testing

@testable import CatalogHTTP

/// The values that calls read from the headers of requests.
@Suite(.timeLimit(.minutes(15))) struct RequestHeaderTests {
    private static let ann = Caller(user: UserID("ann")!, expiresAt: Timestamp(microseconds: 0))

    @Test(
        "The tags of If-None-Match are compared weakly, without the spaces around them",
        arguments: [
            (#""a""#, [#""a""#]), (#"W/"a""#, [#""a""#]), (#""a", W/"b" ,"c""#, [#""a""#, #""b""#, #""c""#]),
            ("*", ["*"]), ("", []), (#"  "a"  "#, [#""a""#]),
        ]
    )
    func knownTags(header: String, tags: [String]) throws {
        #expect(try Call.sample(.get, "/a", ["If-None-Match": header]).knownTags == tags)
    }

    @Test("Only the first 16 tags of If-None-Match count")
    func knownTagsAreLimited() throws {
        let header = (1...17).map { "\"\($0)\"" }.joined(separator: ",")
        let call = try Call.sample(.get, "/a", ["If-None-Match": header])
        #expect(call.knownTags.count == 16)
        #expect(call.knows("\"1\"") && call.knows("\"16\"") && !call.knows("\"17\""))
    }

    @Test("A client knows the tags that it sends, or any with *")
    func knows() throws {
        #expect(try Call.sample(.get, "/a").knownTags.isEmpty)
        #expect(try !Call.sample(.get, "/a").knows("\"a\""))
        let call = try Call.sample(.get, "/a", ["If-None-Match": #""a""#])
        #expect(call.knows("\"a\"") && !call.knows("\"b\"") && !call.knows("a"))
        #expect(try Call.sample(.get, "/a", ["If-None-Match": "*"]).knows("\"b\""))
    }

    @Test(
        "The tag of a compressed form is known only to a client that accepts gzip",
        arguments: [
            (nil, nil, nil), (#""a""#, nil, #""a""#), (#""a""#, "gzip", #""a""#), ("*", nil, #""a""#),
            ("*", "gzip", #""a""#), (#""a-gzip""#, "gzip", #""a-gzip""#), (#""a-gzip""#, nil, nil),
            (#""a-gzip""#, "br", nil), (#""a-gzip", "a""#, "gzip", #""a""#), (#""b""#, "gzip", nil),
        ] as [(String?, String?, String?)]
    )
    func knownTagOfForms(known: String?, accepted: String?, tag: String?) throws {
        var headers: [String: String] = [:]
        if let known { headers["If-None-Match"] = known }
        if let accepted { headers["Accept-Encoding"] = accepted }
        let call = try Call.sample(.get, "/a", headers)
        #expect(call.knownTag(of: "\"a\"") == tag)
        #expect(call.acceptsGzip == (accepted == "gzip"))
    }

    @Test("The tag of a compressed form differs from that of the other")
    func gzipTags() { #expect(ContentCoding.gzipTag("\"7-x\"") == "\"7-x-gzip\"") }

    @Test("Only the first 16 codings of Accept-Encoding count")
    func acceptedCodingsAreLimited() {
        let others = (1...15).map { "c\($0)" }.joined(separator: ",")
        #expect(ContentCoding.acceptsGzip(others + ",gzip"))
        #expect(!ContentCoding.acceptsGzip(others + ",c16,gzip"))
    }

    // MARK: - Preconditions

    @Test(
        "If-Match of an order has the tags of manual orders",
        arguments: [
            (nil, nil), ("*", nil), (#""order-7""#, [7]), (#""order-7-12-k3f""#, [7]),
            (#""order-7", "order-9""#, [7, 9]), (#""order-7" , *"#, nil), (" \t\"order-0\" ", [0]),
        ] as [(String?, Set<Int64>?)]
    )
    func expectedOrderVersions(header: String?, versions: Set<Int64>?) throws {
        let call = try Call.sample(.post, "/a", header.map { ["If-Match": $0] } ?? [:])
        #expect(try call.expectedOrderVersions == versions)
    }

    @Test(
        "If-Match of an order refuses other tags, and weak ones",
        arguments: [#"W/"order-7""#, "order-7", #""7""#, #""order-""#, #""order-x""#, #""order-7"#, "\"\"", "\""]
    )
    func otherTagsAreRefused(header: String) throws {
        let call = try Call.sample(.post, "/a", ["If-Match": header])
        #expect(
            throws: CatalogError.malformed(
                parameter: "If-Match",
                detail:
                    "“\(header)” is not an entity tag of the manual order, such as \"order-7\" of GET …/order?sort=position"
            )
        ) { try call.expectedOrderVersions }
    }

    @Test("An If-Match without a tag is refused, and a long one is shortened in the error", arguments: ["", ",", ",,"])
    func emptyExpectations(header: String) throws {
        let call = try Call.sample(.put, "/a", ["If-Match": header])
        #expect(
            throws: CatalogError.malformed(
                parameter: "If-Match",
                detail: "If-Match must have an entity tag of a setting, such as \"1187\", or *"
            )
        ) { try call.settingExpectation }
        let long = try Call.sample(.put, "/a", ["If-Match": String(repeating: "x", count: 65)])
        #expect(
            throws: CatalogError.malformed(
                parameter: "If-Match",
                detail:
                    "“\(String(repeating: "x", count: 64))” is not an entity tag of a setting, such as \"1187\""
            )
        ) { try long.settingExpectation }
    }

    @Test(
        "A setting is written always, if it exists, if it does not, or at one of some revisions",
        arguments: [
            ([:], .unconditional), (["If-Match": "*"], .present), (["If-Match": #""7""#], .revision([7])),
            (["If-Match": #""7","8""#], .revision([7, 8])), (["If-None-Match": "*"], .absent),
            (["If-None-Match": " * "], .absent), (["If-Match": "*", "If-None-Match": "*"], .present),
            (["If-Match": #""7""#, "If-None-Match": "x"], .revision([7])),
        ] as [([String: String], SettingsEdit.Expectation)]
    )
    func settingExpectations(headers: [String: String], expectation: SettingsEdit.Expectation) throws {
        #expect(try Call.sample(.put, "/a", headers).settingExpectation == expectation)
    }

    @Test("If-None-Match of a write must be *", arguments: [#""7""#, "", "**", "*,*"])
    func otherIfNoneMatch(header: String) throws {
        let call = try Call.sample(.put, "/a", ["If-None-Match": header])
        #expect(
            throws: CatalogError.malformed(
                parameter: "If-None-Match",
                detail: "If-None-Match must be *, which writes the setting only if it does not exist"
            )
        ) { try call.settingExpectation }
    }

    @Test("The tag of a list has its version and the user's revision; a repeat has those of its response")
    func listHeads() throws {
        let head = ListHead("018f", version: 3, revision: 1191)
        #expect(head.id == "018f" && head.tag == "\"3-1191\"")
        for json in [
            #"{"id":"a","version":3,"revision":12}"#, #"{"items":[],"list":{"id":"a","version":3,"revision":12}}"#,
        ] {
            let recorded = try #require(ListHead(RecordedResponse(body: Array(json.utf8))))
            #expect(recorded.id == "a" && recorded.tag == "\"3-12\"")
        }
        for json in [
            #"{"version":3,"revision":12}"#, #"{"id":"a","revision":12}"#, #"{"id":"a","version":3}"#,
            #"{"id":7,"version":3,"revision":12}"#, #"{"id":"a","version":"3","revision":12}"#,
            #"{"id":"a","version":3.5,"revision":12}"#, "", "{",
        ] {
            #expect(ListHead(RecordedResponse(body: Array(json.utf8))) == nil, "\(json)")
        }
    }

    // MARK: - Bodies

    private static func request(_ headers: [String: String], _ method: HTTPRequest.Method = .get) throws -> Request {
        try Call.sample(method, "/v1/stores", headers).request
    }

    @Test(
        "The media type of a body has neither parameters nor spaces, and lowercase letters",
        arguments: [
            (nil, nil), ("application/json", "application/json"), ("Text/CSV; charset=UTF-8", "text/csv"),
            (" text/csv ;x", "text/csv"), ("", ""), (";", ""),
        ] as [(String?, String?)]
    )
    func mediaTypes(header: String?, type: String?) throws {
        #expect(try Self.request(header.map { ["Content-Type": $0] } ?? [:]).mediaType == type)
    }

    @Test(
        "A client that expects 100-continue may wait, whatever its letter case",
        arguments: [(nil, false), ("100-continue", true), ("100-Continue", true), ("other", false), ("", false)]
            as [(String?, Bool)]
    )
    func expectations(header: String?, waits: Bool) throws {
        #expect(try Self.request(header.map { ["Expect": $0] } ?? [:]).expectsContinue == waits)
    }

    @Test(
        "The length of a body is its Content-Length, 0 without one, and unknown for chunks",
        arguments: [
            ([:], 0), (["Content-Length": "12"], 12), (["Content-Length": "x"], 0),
            (["Transfer-Encoding": "chunked"], nil), (["Transfer-Encoding": "chunked", "Content-Length": "3"], nil),
        ] as [([String: String], Int?)]
    )
    func bodyLengths(headers: [String: String], length: Int?) throws {
        #expect(CatalogAPI.bodyLength(try Self.request(headers, .post)) == length)
    }

    @Test("A body may be compressed with gzip only where that is read")
    func contentCodings() throws {
        for (coding, isGzip) in [("gzip", true), ("GZIP", true), ("identity", false), ("Identity", false)] {
            let request = try Self.request(["Content-Encoding": coding], .post)
            #expect(try BodyLoader.checkCoding(request, allowsGzip: true) == isGzip)
        }
        #expect(try BodyLoader.checkCoding(try Self.request([:], .post), allowsGzip: true) == false)
        #expect(try BodyLoader.checkCoding(try Self.request([:], .post)) == false)
        for (coding, allowsGzip, detail) in [
            ("gzip", false, "unsupported content coding gzip; send the body uncompressed"),
            ("br", true, "unsupported content coding br; send the body uncompressed, or with gzip"),
            (
                String(repeating: "z", count: 33), false,
                "unsupported content coding \(String(repeating: "z", count: 32)); send the body uncompressed"
            ),
        ] {
            let request = try Self.request(["Content-Encoding": coding], .post)
            let problem = #expect(throws: Problem.self) {
                try BodyLoader.checkCoding(request, allowsGzip: allowsGzip)
            }
            #expect(problem?.kind == .unsupportedMediaType)
            #expect(problem?.detail == detail)
        }
    }

    @Test("A body is read up to its limit, with the media types that the endpoint accepts")
    func bodiesAreLimited() async throws {
        func read(_ length: Int, limit: Int, _ headers: [String: String] = [:]) async throws -> Int {
            let body = String(repeating: "x", count: length)
            let call = try Call.sample(.post, "/a", headers, body: body)
            return try await BodyLoader(limit: 0, timeout: .seconds(20)).bytes(
                call,
                types: Call.jsonTypes,
                limit: limit
            )
            .count
        }
        #expect(try await read(10, limit: 10) == 10)
        #expect(try await read(10, limit: 10, ["Content-Length": "10"]) == 10)
        #expect(try await read(3, limit: 10, ["Content-Type": "application/json; charset=utf-8"]) == 3)
        // The announced and the real length are both limited.
        for headers in [[:], ["Content-Length": "11"], ["Content-Length": "10"]] as [[String: String]] {
            let problem = await #expect(throws: Problem.self) { _ = try await read(11, limit: 10, headers) }
            #expect(problem?.kind == .tooLarge && problem?.detail == "the body exceeds the limit of 10 bytes")
        }
        let type = await #expect(throws: Problem.self) {
            _ = try await read(3, limit: 10, ["Content-Type": "text/plain"])
        }
        #expect(type?.kind == .unsupportedMediaType && type?.allowed == ["application/json"])
        #expect(type?.detail == "unsupported body type text/plain")
        let long = "text/" + String(repeating: "x", count: 60)
        let cut = await #expect(throws: Problem.self) { _ = try await read(3, limit: 10, ["Content-Type": long]) }
        #expect(cut?.detail == "unsupported body type \(long.dropLast())")
    }

    @Test("Endpoints read JSON or a merge patch, and report where JSON is invalid")
    func jsonBodies() throws {
        #expect(Call.jsonTypes == ["application/json"])
        #expect(Call.patchTypes == ["application/merge-patch+json", "application/json"])
        #expect(try BodyLoader.json(Array("[1]".utf8)).text == "[1]")
        let error = #expect(throws: CatalogError.self) { try BodyLoader.json(Array("{\"a\":}".utf8)) }
        guard case .malformed(let parameter, let detail, _, _)? = error else { return }
        #expect(parameter == nil)
        #expect(detail.hasPrefix("invalid JSON at byte 5: "))
    }

    // MARK: - Idempotency keys

    private static func once(
        _ key: String?,
        _ method: HTTPRequest.Method = .post,
        _ path: String = "/a",
        body: String = "b",
        caller: Caller? = ann
    ) throws -> IdempotentCall<RecordedResponse>? {
        let call = try Call.sample(method, path, key.map { ["Idempotency-Key": $0] } ?? [:], caller: caller)
        return try call.idempotentCall(Array(body.utf8))
    }

    @Test("The key belongs to the user, and the fingerprint to the method, the target and the body")
    func idempotentCalls() throws {
        let first = try #require(try Self.once("k"))
        let key = Base64URL.encode(Array(SHA256.hash(data: Array("ann\u{0}k".utf8))))
        #expect(first.key == key)
        #expect(first.fingerprint == Array(SHA256.hash(data: Array("POST\u{0}/a\u{0}b".utf8))))
        #expect(try Self.once("k", .put)?.fingerprint == Array(SHA256.hash(data: Array("PUT\u{0}/a\u{0}b".utf8))))
        let other = try #require(try Self.once("k", .post, "/a?x=1", body: ""))
        #expect(other.key == key)
        #expect(other.fingerprint == Array(SHA256.hash(data: Array("POST\u{0}/a?x=1\u{0}".utf8))))
        #expect(try Self.once("l")?.key != key)
        let bob = Caller(user: UserID("bob")!, expiresAt: Timestamp(microseconds: 0))
        #expect(try Self.once("k", caller: bob)?.key != key)
    }

    @Test("Without a key or a token, a call has no record")
    func callsWithoutKeys() throws {
        #expect(try Self.once(nil) == nil)
        #expect(try Self.once("k", caller: nil) == nil)
    }

    @Test("A key has 1 to 255 printable characters, also without a token")
    func keysAreChecked() throws {
        #expect(try Self.once(String(repeating: "k", count: 255)) != nil)
        for key in ["", String(repeating: "k", count: 256), String(repeating: "é", count: 128)] {
            for caller in [Self.ann, nil] {
                #expect(
                    throws: CatalogError.malformed(
                        parameter: "Idempotency-Key",
                        detail: "Idempotency-Key must have 1 to 255 printable characters"
                    )
                ) { try Self.once(key, caller: caller) }
            }
        }
    }

    // MARK: - Request ids

    @Test("A request keeps its id of 1 to 128 printable ASCII characters, and gets another one otherwise")
    func requestIDs() throws {
        for id in ["a", "~", "a b/7", String(repeating: "x", count: 128)] {
            #expect(RequestID.text(of: try Self.request(["X-Request-Id": id])) == id)
        }
        for id in [nil, "", "\u{7F}", "é", String(repeating: "x", count: 129)] {
            let text = RequestID.text(of: try Self.request(id.map { ["X-Request-Id": $0] } ?? [:]))
            #expect(UniqueID(text)?.text == text)
        }
    }
}
