import Catalog
import CatalogJSON
import Testing

@testable import CatalogHTTP

/// Values of query parameters, their limits and the errors for others.
@Suite(.timeLimit(.minutes(15))) struct RequestTargetRuleTests {
    private static func target(_ query: String?, path: String = "/") throws -> RequestTarget {
        try RequestTarget(path: path, query: query)
    }

    private enum Color: String, CaseIterable { case red, green }

    @Test("A query is split at ampersands and at the first equals sign")
    func pairs() throws {
        let target = try Self.target("a=1&&b=x=y&c&=z&a=2&d=")
        #expect(target.values("a") == ["1", "2"])
        #expect(target.values("b") == ["x=y"])
        #expect(target.values("c") == [""] && target.values("d") == [""] && target.values("") == ["z"])
        #expect(target.values("x").isEmpty)
        #expect(try target.value("x") == nil)
        #expect(try Self.target("a%3D=1").values("a=") == ["1"])
        #expect(try Self.target(nil).values("a").isEmpty)
    }

    @Test("The error for an invalid encoding says whether the path or the query has it")
    func invalidEncodings() {
        #expect(
            throws: CatalogError.malformed(parameter: nil, detail: "the path is not valid percent-encoded UTF-8")
        ) { try Self.target(nil, path: "/%zz") }
        for query in ["%zz=1", "a=%zz", "%ff"] {
            #expect(
                throws: CatalogError.malformed(parameter: nil, detail: "the query is not valid percent-encoded UTF-8")
            ) { try Self.target(query) }
        }
    }

    @Test("The first unknown parameter is reported, with at most 64 characters of its name")
    func rejections() throws {
        let name = String(repeating: "x", count: 65)
        let target = try Self.target("limit=1&\(name)=1&other=2")
        let expected = CatalogError.malformed(
            parameter: String(repeating: "x", count: 64),
            detail: "unknown query parameter",
            allowed: ["limit"]
        )
        #expect(target.rejection(allowing: ["limit"]) == expected)
        #expect(try Self.target("").rejection(allowing: []) == nil)
    }

    @Test("A choice is one of the cases, and the error lists them")
    func choices() throws {
        let red: Color? = try Self.target("color=red").choice("color")
        #expect(red == .red)
        let none: Color? = try Self.target("").choice("color")
        #expect(none == nil)
        for value in ["Red", "", String(repeating: "x", count: 65)] {
            let target = try Self.target("color=\(value)")
            #expect(
                throws: CatalogError.malformed(
                    parameter: "color",
                    detail: "color must be red, green (got “\(value.prefix(64))”)",
                    allowed: ["red", "green"]
                )
            ) {
                let _: Color? = try target.choice("color")
            }
        }
    }

    @Test("A flag is true with an empty value, and the error names the values")
    func flags() throws {
        #expect(try Self.target("a=").flag("a"))
        for value in ["1", "TRUE", "yes"] {
            let target = try Self.target("a=\(value)")
            #expect(
                throws: CatalogError.malformed(
                    parameter: "a",
                    detail: "a must be true or false",
                    allowed: ["true", "false"]
                )
            ) { try target.flag("a") }
        }
    }

    @Test("A limit has a default that the caller may choose, and its error shows the value")
    func limits() throws {
        #expect(try Self.target("").limit() == 24)
        #expect(try Self.target("").limit(default: 7) == 7)
        #expect(try Self.target("limit=3").limit(default: 7) == 3)
        let error = #expect(throws: CatalogError.self) { try Self.target("limit=101").limit() }
        guard case .malformed(let parameter, let detail, _, _)? = error else { return }
        #expect(parameter == "limit")
        #expect(detail.hasPrefix("limit must be an integer ") && detail.hasSuffix("(got “101”)"))
    }

    @Test("Include is descendants or missing")
    func descendants() throws {
        #expect(try Self.target("").includesDescendants() == nil)
        #expect(try Self.target("include=descendants").includesDescendants() == true)
        for value in ["", "all", "Descendants"] {
            let target = try Self.target("include=\(value)")
            #expect(
                throws: CatalogError.malformed(
                    parameter: "include",
                    detail: "include must be descendants",
                    allowed: ["descendants"]
                )
            ) { try target.includesDescendants() }
        }
    }

    @Test("A time is in RFC 3339, and the error shows at most 64 characters of another value")
    func times() throws {
        #expect(try Self.target("").timestamp("since") == nil)
        let time = try Self.target("since=2026-03-01T08:00:00Z").timestamp("since")
        #expect(time == Timestamp(microseconds: 1_772_352_000_000_000))
        let target = try Self.target("since=\(String(repeating: "9", count: 65))")
        #expect(
            throws: CatalogError.malformed(
                parameter: "since",
                detail:
                    "since must be a time such as 2026-03-01T08:00:00Z (got “\(String(repeating: "9", count: 64))”)"
            )
        ) { try target.timestamp("since") }
    }

    @Test("A revision is a non-negative integer of 64 bits")
    func revisions() throws {
        #expect(try Self.target("since=0").revision("since") == 0)
        #expect(try Self.target("since=9223372036854775807").revision("since") == Int64.max)
        for value in ["-1", "", "1.5", "9223372036854775808"] {
            let target = try Self.target("since=\(value)")
            #expect(
                throws: CatalogError.malformed(
                    parameter: "since",
                    detail: "since must be a revision, a non-negative integer"
                )
            ) { try target.revision("since") }
        }
    }

    @Test("A sort is read from its parameter, and its error names that")
    func sorts() throws {
        #expect(try Self.target("").sort() == nil)
        #expect(try Self.target("sort=-price").sort()?.description == "-price")
        let target = try Self.target("to_sort=name&sort=-price")
        #expect(try target.sort("to_sort")?.description == "name")
        let error = #expect(throws: CatalogError.self) { try Self.target("to_sort=Prize").sort("to_sort") }
        guard case .unknownSortKey(let reason, let parameter)? = error else { return }
        #expect(parameter == "to_sort" && reason.word == "Prize")
    }

    @Test("A cursor is decoded with the key of the deployment")
    func cursors() throws {
        let codec = DeploymentKey(Array("test".utf8)).cursors
        #expect(try Self.target("").cursor(codec) == nil)
        #expect(throws: CatalogError.invalidCursor) { try Self.target("cursor=abc").cursor(codec) }
    }

    @Test(
        "The store of a path is its third segment",
        arguments: [
            ("/v1/stores/corner", "corner"), ("/v1/stores/corner/products", "corner"), ("/v1/stores", nil),
            ("/v1/stores/", nil), ("/v1/stores/Not%20A%20Key", nil), ("/v2/stores/corner", nil),
            ("/v1/me/stores/corner", nil), ("/v1/shops/corner", nil), ("/", nil),
        ] as [(String, String?)]
    )
    func stores(path: String, store: String?) throws {
        #expect(try Self.target(nil, path: path).store?.text == store)
    }

    @Test("Filters are read from their parameters, and a target without them has nil")
    func filters() throws {
        #expect(try Self.target("sort=price").filter(apartFrom: ["sort"]) == nil)
        #expect(try Self.target("in_stock=true").filter(apartFrom: []) == Filter([.inStock: .flag(true)]))
    }
}
