import Catalog
import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(1))) struct RequestTargetTests {
    private func target(_ path: String, _ query: String? = nil) throws -> RequestTarget {
        try RequestTarget(path: path, query: query)
    }

    @Test("Segments are decoded, empty ones stay, and an encoded slash separates nothing")
    func segments() throws {
        #expect(try target("/").segments == [""])
        #expect(try target("/a//b").segments == ["a", "", "b"])
        #expect(try target("/a%2Fb/%C3%A9").segments == ["a/b", "é"])
    }

    @Test(
        "Percent-encodings that are none, invalid UTF-8 and NUL are refused",
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

    @Test("A parameter that is given twice is refused where one value is expected")
    func repeatedParameters() throws {
        let target = try target("/", "sort=price&sort=name")
        #expect(throws: CatalogError.malformed(parameter: "sort", detail: "sort must be given only once")) {
            try target.value("sort")
        }
    }

    @Test("An unknown parameter is refused with those that are allowed")
    func unknownParameters() throws {
        let target = try target("/", "limt=3")
        #expect(
            throws: CatalogError.malformed(
                parameter: "limt",
                detail: "unknown query parameter",
                allowed: ["limit", "sort"]
            )
        ) { try target.allow("limit", "sort") }
        #expect(throws: Never.self) { try target.allow("limt") }
    }

    @Test(
        "A limit is a whole number from 1 to 100",
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

    @Test("A choice names what is allowed")
    func choices() throws {
        #expect(try target("/", "mode=order").choice("mode") == DiffMode.order)
        #expect(try target("/").choice("mode") as DiffMode? == nil)
        let error = #expect(throws: CatalogError.self) { let _: DiffMode? = try target("/", "mode=x").choice("mode") }
        guard case .malformed(_, _, let allowed, _)? = error else { throw CatalogError.fault("another error") }
        #expect(allowed == ["moves", "auto", "order"])
    }

    @Test("A revision is a whole number of 0 or more")
    func revisions() throws {
        #expect(try target("/").revision("since") == nil)
        #expect(try target("/", "since=7").revision("since") == 7)
        #expect(throws: CatalogError.self) { try target("/", "since=-1").revision("since") }
        #expect(throws: CatalogError.self) { try target("/", "since=x").revision("since") }
    }
}
