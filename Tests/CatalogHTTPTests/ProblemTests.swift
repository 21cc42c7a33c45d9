import Catalog
import CatalogJSON
import HTTPTypes
import Hummingbird
import JSON
import Testing

@testable import CatalogHTTP

/// Problem documents: their statuses, texts, members and headers.
@Suite(.timeLimit(.minutes(15))) struct ProblemTests {
    /// The types with their statuses and titles, and a phrase of the advice on the help page.
    private static let kinds: [String: (status: Int, title: String, advice: String)] = [
        "malformed-request": (400, "Malformed request", "“allowed” lists the accepted values"),
        "unknown-sort-key": (400, "Unknown sort key", "“allowed” lists the sort keys"),
        "invalid-cursor": (400, "Invalid cursor", "A cursor is only valid"),
        "unauthenticated": (401, "Authentication required", "Authorization: Bearer"),
        "forbidden": (403, "Forbidden", "a scope of the token"),
        "not-found": (404, "Not found", "Check the path and the ids"),
        "method-not-allowed": (405, "Method not allowed", "“Allow” lists the methods"),
        "payload-timeout": (408, "Request timeout", "arrived too slowly"),
        "conflict": (409, "Conflict", "Resolve the conflict"),
        "in-use": (409, "In use", "Remove the uses listed in “uses”"),
        "stale": (412, "Precondition failed", "Read the current version"),
        "too-large": (413, "Payload too large", "use an import"),
        "unsupported-media-type": (415, "Unsupported media type", "Set Content-Type"),
        "unprocessable": (422, "Validation failed", "which value is invalid"),
        "idempotency-key-reused": (422, "Idempotency key reused", "a new Idempotency-Key"),
        "too-many": (429, "Too many requests", "Close some open streams"),
        "rate-limited": (429, "Rate limit exceeded", "how many points are left"),
        "fault": (500, "Internal server error", "logged under “request_id”"),
        "read-only": (503, "Service is read-only", "does not accept writes"),
        "unavailable": (503, "Service unavailable", "overloaded or its database is unreachable"),
    ]

    @Test("Each type of problem has its status, title and advice")
    func kindsAreDescribed() throws {
        #expect(Set(ProblemKind.allCases.map(\.rawValue)) == Set(Self.kinds.keys))
        for kind in ProblemKind.allCases {
            let expected = try #require(Self.kinds[kind.rawValue])
            #expect(kind.status.code == expected.status, "\(kind)")
            #expect(kind.title == expected.title, "\(kind)")
            #expect(kind.advice.contains(expected.advice), "\(kind)")
            #expect(kind.contradictsState == [409, 412].contains(expected.status), "\(kind)")
        }
    }

    /// An error of the domain, and the members and headers of its problem.
    struct Case: Sendable, CustomTestStringConvertible {
        let error: CatalogError
        let type: String
        /// The members after `request_id`, as JSON, each after a comma.
        var members = ""
        let detail: String
        var headers: [String: String] = [:]

        var testDescription: String { "\(error)" }
    }

    private static let attribute = AttributeSet(
        deployment: [.definition(try! AttributeDefinition(name: AttributeName("rating")!, form: .text))]
    )
    .attributes[0]

    private static let synonyms = try! Synonyms(groups: [["pop", "soda"]], oneWay: [])

    static let cases: [Case] = [
        Case(error: .malformed(parameter: nil, detail: "d"), type: "malformed-request", detail: "d"),
        Case(
            error: .malformed(parameter: "limit", detail: "d", allowed: ["a", "b"], hint: "a"),
            type: "malformed-request",
            members: #","parameter":"limit","allowed":["a","b"],"hint":"a""#,
            detail: "d"
        ),
        Case(
            error: .invalidCursor,
            type: "invalid-cursor",
            members: #","parameter":"cursor""#,
            detail: """
                the cursor was altered or belongs to a different shelf, sort, filter, search or “collapse”; start from the first page
                """
        ),
        Case(error: .notFound("store “x”"), type: "not-found", detail: "store “x” does not exist"),
        Case(
            error: .unknownStores(detail: "d", hint: "corner"),
            type: "not-found",
            members: #","parameter":"store","hint":"corner""#,
            detail: "d"
        ),
        Case(
            error: .unknownStores(detail: "d", hint: nil),
            type: "not-found",
            members: #","parameter":"store""#,
            detail: "d"
        ),
        Case(
            error: .unprocessable(field: "name", detail: "d"),
            type: "unprocessable",
            members: #","parameter":"name""#,
            detail: "d"
        ),
        Case(error: .unprocessable(field: "", detail: "d"), type: "unprocessable", detail: "d"),
        Case(error: .conflict("d"), type: "conflict", detail: "d"),
        Case(
            error: .stale(current: 7),
            type: "stale",
            members: #","order_version":7"#,
            detail: "the order has changed; read it again, and repeat the change (the current order version is 7)",
            headers: ["ETag": #""order-7""#]
        ),
        Case(
            error: .staleSetting(current: 8),
            type: "stale",
            members: #","revision":8"#,
            detail:
                "the setting is not at the expected revision; read it again, and repeat the change (the current revision is 8)",
            headers: ["ETag": #""8""#]
        ),
        Case(error: .staleSetting(current: nil), type: "stale", detail: "the setting does not exist"),
        Case(
            error: .staleList(current: 9),
            type: "stale",
            members: #","version":9"#,
            detail: "the list has changed; read it again, and repeat the change (the current version is 9)",
            headers: ["ETag": #""9""#]
        ),
        Case(
            error: .staleAttribute(current: nil),
            type: "stale",
            detail: "the attribute is not as If-Match expects; read it again, and repeat the change"
        ),
        Case(
            error: .staleAttribute(current: attribute),
            type: "stale",
            detail: "the attribute is not as If-Match expects; read it again, and repeat the change",
            headers: ["ETag": Call.hash(attribute.json)]
        ),
        Case(
            error: .inUse(attribute.name, AttributeUses(settings: 2, profiles: [CatalogKey("supplier")!])),
            type: "in-use",
            members: #","uses":{"settings":2,"stores":[],"shelves":[],"profiles":["supplier"]}"#,
            detail:
                "the attribute “rating” is in use: 2 remembered sorts or filters, 1 import profile; to change it anyway, repeat the request with confirm=rating; these uses are then ignored"
        ),
        Case(
            error: .inUse(
                attribute.name,
                AttributeUses(
                    stores: [CatalogKey("corner")!],
                    shelves: [.init(store: CatalogKey("corner")!, shelf: CatalogKey("tea")!)]
                )
            ),
            type: "in-use",
            members:
                #","uses":{"settings":0,"stores":["corner"],"shelves":[{"store":"corner","shelf":"tea"}],"profiles":[]}"#,
            detail:
                "the attribute “rating” is in use: the default sort of 1 store, a sort of 1 shelf; to change it anyway, repeat the request with confirm=rating; these uses are then ignored"
        ),
        Case(
            error: .staleSynonyms(current: nil),
            type: "stale",
            detail: "the synonyms are not as If-Match expects; read them again, and repeat the change"
        ),
        Case(
            error: .staleSynonyms(current: synonyms),
            type: "stale",
            detail: "the synonyms are not as If-Match expects; read them again, and repeat the change",
            headers: ["ETag": Call.hash(synonyms.json)]
        ),
        Case(error: .forbidden("d"), type: "forbidden", detail: "d"),
        Case(
            error: .keyReused,
            type: "idempotency-key-reused",
            detail: "the Idempotency-Key was used for a different request within the last 24 hours"
        ),
        Case(error: .tooLarge("d"), type: "too-large", detail: "d"),
        Case(error: .tooMany("d"), type: "too-many", detail: "d", headers: ["Retry-After": "30"]),
        Case(
            error: .unavailable,
            type: "unavailable",
            detail: "the service is overloaded or its database is unreachable",
            headers: ["Retry-After": "1"]
        ),
        Case(
            error: .cancelled,
            type: "unavailable",
            detail: "the service is overloaded or its database is unreachable",
            headers: ["Retry-After": "1"]
        ),
        Case(
            error: .readOnly,
            type: "read-only",
            detail: "the database is read-only; nothing was changed",
            headers: ["Retry-After": "5"]
        ),
        Case(
            error: .fault("a secret of the server"),
            type: "fault",
            detail: "an internal error occurred; report the request_id"
        ),
    ]

    @Test("An error of the catalog becomes a problem document with its members and headers", arguments: cases)
    func errorsBecomeProblems(expected: Case) async throws {
        let problem = Problem(expected.error)
        let (status, title, _) = try #require(Self.kinds[expected.type])
        let json =
            #"{"type":"/problems/\#(expected.type)","title":"\#(title)","status":\#(status),"#
            + #""detail":"\#(expected.detail)","request_id":"r 1"\#(expected.members)}"#
        #expect(String(decoding: problem.json(requestID: "r 1"), as: UTF8.self) == json)
        let response = problem.response(requestID: "r 1")
        #expect(response.status.code == status)
        #expect(try await response.bytes() == Array(json.utf8))
        var headers = ["content-type": "application/problem+json", "cache-control": "no-store"]
        for (name, value) in expected.headers { headers[name.lowercased()] = value }
        let fields = Dictionary(
            uniqueKeysWithValues: response.headers.map { ($0.name.canonicalName, $0.value) }
                .filter { $0.0 != "content-length" }
        )
        #expect(fields == headers)
    }

    @Test("An unknown sort key is a problem with the allowed keys, a hint and the parameter")
    func unknownSortKeys() throws {
        var error: SortError?
        do { _ = try Sort.parse("pricE") } catch let found { error = found }
        let problem = Problem(.unknownSortKey(try #require(error), parameter: "to_sort"))
        #expect(problem.kind == .unknownSortKey)
        #expect(problem.detail == "unknown sort key: “pricE”")
        #expect(problem.parameter == "to_sort")
        #expect(problem.hint == "price")
        #expect(problem.allowed == Sort.allowed)
        #expect(problem.allowed.contains("-price") && problem.allowed.contains("name"))
    }

    @Test("The rejected rows of an import are listed, and a connection that cannot go on is closed")
    func rejectionsAreListed() {
        var problem = Problem(.unprocessable, "d")
        problem.rejections = [ImportRejection(line: 2, column: "price", value: "x", reason: "r")]
        problem.closesConnection = true
        #expect(
            String(decoding: problem.json(requestID: "1"), as: UTF8.self).hasSuffix(
                #""request_id":"1","rejects":[{"line":2,"column":"price","value":"x","reason":"r"}]}"#
            )
        )
        #expect(problem.response(requestID: "1").headers[.connection] == "close")
        problem.closesConnection = false
        #expect(problem.response(requestID: "1").headers[.connection] == nil)
    }

    @Test(
        "The help page of a type has its title, status and advice, and links to all types",
        arguments: kinds.keys.sorted()
    )
    func helpPages(type: String) async throws {
        let (status, title, advice) = try #require(Self.kinds[type])
        let page = try await MemoryAPI().send(.get, "/problems/\(type)", as: nil)
        #expect(page.status == 200)
        #expect(page.headers[.contentType] == "text/html; charset=utf-8")
        #expect(page.headers[.cacheControl] == "public, no-cache")
        #expect(page.headers[.contentEncoding] == nil)
        let html = String(decoding: page.body, as: UTF8.self)
        #expect(html.contains("<h1>\(title)</h1>") && html.contains("<title>\(title) · Aisle</title>"))
        #expect(html.contains("Status \(status), type <code>/problems/\(type)</code>"))
        #expect(html.contains(advice))
        for (other, kind) in Self.kinds {
            let mark = other == type ? " aria-current=\"page\"" : ""
            #expect(html.contains("<a href=\"/problems/\(other)\"\(mark)>\(kind.title)<span>\(kind.status)</span></a>"))
        }
        #expect(html.count(of: "aria-current=\"page\"") == 1)
    }

    @Test("The bodies that do not arrive have problems that end the connection")
    func bodyProblems() {
        let large = BodyLoader.tooLarge(1234)
        #expect(large.kind == .tooLarge && large.closesConnection)
        #expect(large.detail == "the body exceeds the limit of 1234 bytes")
        let late = BodyLoader.timedOut
        #expect(late.kind == .payloadTimeout && late.closesConnection)
        #expect(late.detail == "the body did not arrive in time; check the connection, or send a smaller body")
        #expect(
            BodyLoader.incomplete
                == .malformed(parameter: nil, detail: "the body is incomplete or its HTTP framing is invalid")
        )
    }
}

extension String {
    /// Returns how often a text occurs.
    fileprivate func count(of text: String) -> Int {
        split(separator: text, omittingEmptySubsequences: false).count - 1
    }
}
