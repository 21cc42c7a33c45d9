import Catalog
import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(15))) struct RequestTargetTests {
    private func target(_ path: String, _ query: String? = nil) throws -> RequestTarget {
        try RequestTarget(path: path, query: query)
    }

    @Test("Segments are decoded, empty ones are kept, and an encoded slash is not a separator")
    func segments() throws {
        #expect(try target("/").segments == [""])
        #expect(try target("/a//b").segments == ["a", "", "b"])
        #expect(try target("/a%2Fb/%C3%A9").segments == ["a/b", "é"])
    }

    @Test(
        "Invalid percent-encodings, invalid UTF-8 and NUL are rejected",
        arguments: ["/%", "/%4", "/%zz", "/%ff", "/%00"]
    )
    func invalidEncodings(_ path: String) {
        #expect(throws: CatalogError.self) { try target(path) }
        #expect(throws: CatalogError.self) { try target("/", "a=" + path.dropFirst()) }
    }

    @Test("A plus sign is a space in the query only")
    func plusSigns() throws {
        let target = try target("/a+b", "q=a+b&q=c%2Bd")
        #expect(target.segments == ["a+b"])
        #expect(target.values("q") == ["a b", "c+d"])
    }

    @Test("A repeated parameter is rejected if one value is expected")
    func repeatedParameters() throws {
        let target = try target("/", "sort=price&sort=name")
        #expect(throws: CatalogError.malformed(parameter: "sort", detail: "sort must be given only once")) {
            try target.value("sort")
        }
    }

    @Test("An unknown parameter is rejected with a list of the allowed ones")
    func unknownParameters() throws {
        let target = try target("/", "limt=3")
        let expected = CatalogError.malformed(
            parameter: "limt",
            detail: "unknown query parameter",
            allowed: ["limit", "sort"]
        )
        #expect(target.rejection(allowing: ["limit", "sort"]) == expected)
        #expect(target.rejection(allowing: ["limt"]) == nil)
    }

    @Test(
        "A limit must be an integer between 1 and 100",
        arguments: ["0", "101", "-1", "1.5", "", "x", "9999999999999999999999"]
    )
    func invalidLimits(_ text: String) throws {
        let target = try target("/", "limit=\(text)")
        #expect(throws: CatalogError.self) { try target.limit() }
    }

    @Test("The limit has a default and both ends of its range")
    func limits() throws {
        #expect(try target("/").limit() == PageRequest.defaultLimit)
        #expect(try target("/", "limit=1").limit() == 1)
        #expect(try target("/", "limit=100").limit() == 100)
    }

    @Test("A flag is true, false, or given without a value")
    func flags() throws {
        #expect(try target("/").flag("dry_run") == false)
        #expect(try target("/", "dry_run").flag("dry_run") == true)
        #expect(try target("/", "dry_run=true").flag("dry_run") == true)
        #expect(try target("/", "dry_run=false").flag("dry_run") == false)
        #expect(throws: CatalogError.self) { try target("/", "dry_run=1").flag("dry_run") }
    }

    @Test("An invalid choice is rejected with the allowed values")
    func choices() throws {
        #expect(try target("/", "mode=order").choice("mode") == DiffMode.order)
        #expect(try target("/").choice("mode") as DiffMode? == nil)
        let error = #expect(throws: CatalogError.self) { let _: DiffMode? = try target("/", "mode=x").choice("mode") }
        guard case .malformed(_, _, let allowed, _)? = error else { throw CatalogError.fault("another error") }
        #expect(allowed == ["moves", "auto", "order"])
    }

    @Test("A revision must be a non-negative integer")
    func revisions() throws {
        #expect(try target("/").revision("since") == nil)
        #expect(try target("/", "since=7").revision("since") == 7)
        #expect(throws: CatalogError.self) { try target("/", "since=-1").revision("since") }
        #expect(throws: CatalogError.self) { try target("/", "since=x").revision("since") }
    }
}
