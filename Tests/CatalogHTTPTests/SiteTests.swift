import Catalog
import HTTPTypes
import Site
import TestSupport
import Testing

@testable import CatalogHTTP

/// The files of the site, with their media types, caching and content security policies.
@Suite(.timeLimit(.minutes(15))) struct SiteTests {
    private static let referrer = HTTPField.Name("Referrer-Policy")!

    /// Returns the policy of pages with some sources of images.
    private static func policy(_ images: String = "'self'") -> String {
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src \(images); connect-src 'self'; "
            + "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    }

    private func check(
        _ response: MemoryAPI.Response,
        _ bytes: [UInt8]?,
        _ type: String,
        cache: String = "public, no-cache",
        policy: String = SiteTests.policy(),
        _ sourceLocation: SourceLocation = #_sourceLocation
    ) {
        #expect(response.status == 200, sourceLocation: sourceLocation)
        if let bytes { #expect(response.body == bytes, sourceLocation: sourceLocation) }
        #expect(!response.body.isEmpty, sourceLocation: sourceLocation)
        #expect(response.headers[.contentType] == type, sourceLocation: sourceLocation)
        #expect(response.headers[.cacheControl] == cache, sourceLocation: sourceLocation)
        #expect(response.headers[.eTag] == Call.hash(response.body), sourceLocation: sourceLocation)
        #expect(response.headers[.vary] == "Accept-Encoding", sourceLocation: sourceLocation)
        #expect(response.headers[.contentSecurityPolicy] == policy, sourceLocation: sourceLocation)
        #expect(response.headers[.xContentTypeOptions] == "nosniff", sourceLocation: sourceLocation)
        #expect(response.headers[Self.referrer] == "no-referrer", sourceLocation: sourceLocation)
    }

    @Test("Each page, script and style is served as it is, and its 304 has the same policy")
    func assets() async throws {
        let api = await MemoryAPI()
        for asset in WebAsset.allCases {
            let path = "/\(asset.rawValue)"
            let response = try await api.send(.get, path, as: nil)
            check(response, asset.bytes, asset.mediaType)
            let tag = try #require(response.headers[.eTag])
            let known = try await api.send(.get, path + "?x=1", as: nil, ["If-None-Match": tag])
            #expect(known.status == 304 && known.headers[.contentSecurityPolicy] == Self.policy())
        }
    }

    @Test("Each guide has a page, which is that of the API reference, and its Markdown")
    func guides() async throws {
        let api = await MemoryAPI()
        for guide in Guide.all {
            let page = try await api.send(.get, "/docs/\(guide.name)", as: nil)
            check(page, WebAsset.docsPage.bytes, "text/html; charset=utf-8")
            let text = try await api.send(.get, "/docs/\(guide.name)/markdown", as: nil)
            check(text, guide.markdown, "text/markdown; charset=utf-8")
        }
        for path in ["/docs/none", "/docs/none/markdown", "/docs/sorting/html"] {
            #expect(try await api.send(.get, path, as: nil).status == 404)
        }
    }

    @Test("A diagram may have its own styles, and nothing else")
    func diagrams() async throws {
        let api = await MemoryAPI()
        #expect(!Diagram.all.isEmpty)
        for diagram in Diagram.all {
            check(
                try await api.send(.get, "/diagrams/\(diagram.name)", as: nil),
                diagram.svg,
                "image/svg+xml",
                policy: "default-src 'none'; style-src 'unsafe-inline'"
            )
        }
    }

    @Test("A picture is cached for a day, and is not compressed for one request")
    func pictures() async throws {
        let path = "/pictures/carton-2f6fb0.svg"
        let response = try await MemoryAPI().send(.get, path, as: nil, ["Accept-Encoding": "gzip"])
        check(
            response,
            try #require(Picture("carton-2f6fb0.svg")).svg,
            "image/svg+xml",
            cache: "public, max-age=86400"
        )
        #expect(response.headers[.contentEncoding] == nil)
    }

    @Test("Pages load photos from the configured origins, which the module for images lists")
    func imageOrigins() async throws {
        let origins = ["https://a.example", "https://b.example:8443"].map { WebOrigin($0)! }
        let api = await MemoryAPI { $0.imageOrigins = origins }
        let policy = Self.policy("'self' https://a.example https://b.example:8443")
        let module = try await api.send(.get, "/images.js", as: nil)
        check(module, WebAsset.imagesModule(origins), "text/javascript; charset=utf-8", policy: policy)
        check(
            try await api.send(.get, "/docs", as: nil),
            WebAsset.docsPage.bytes,
            "text/html; charset=utf-8",
            policy: policy
        )
        let plain = try await MemoryAPI().send(.get, "/images.js", as: nil)
        check(plain, WebAsset.imagesModule([]), "text/javascript; charset=utf-8")
    }

    @Test("A browser's page for a missing address has the policy of pages, is not stored and varies by Accept")
    func missingPages() async throws {
        let api = await MemoryAPI()
        let headers = ["Accept": "TEXT/HTML"]
        let page = try await api.send(.get, "/nowhere", as: nil, headers)
        #expect(page.status == 404 && page.body == StaticPage.missing("/nowhere"))
        #expect(page.headers[.contentType] == "text/html; charset=utf-8")
        #expect(page.headers[.cacheControl] == "no-store" && page.headers[.vary] == "Accept")
        #expect(page.headers[.contentSecurityPolicy] == Self.policy())
        #expect(page.headers[.xContentTypeOptions] == "nosniff" && page.headers[Self.referrer] == "no-referrer")
        let head = try await api.send(.head, "/nowhere", as: nil, headers)
        #expect(head.status == 404 && head.body.isEmpty && head.headers[.vary] == "Accept")
        for (method, path, headers) in [
            (.post, "/nowhere", headers), (.get, "/v1/nowhere", headers), (.get, "/nowhere", ["Accept": "text/plain"]),
            (.get, "/nowhere", [:]),
        ] as [(HTTPRequest.Method, String, [String: String])] {
            let problem = try await api.send(method, path, as: nil, headers)
            #expect(problem.status == 404 && problem.headers[.contentType] == "application/problem+json")
        }
        // Other errors are problem documents for browsers, too.
        #expect(
            try await api.send(.post, "/docs", as: nil, headers).headers[.contentType] == "application/problem+json"
        )
    }

    @Test("The description is the recorded document")
    func description() async throws {
        let response = try await MemoryAPI().send(.get, "/openapi.json", as: nil)
        #expect(response.body == OpenAPI.document && response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "public, no-cache")
        #expect(response.headers[.eTag] == Call.hash(OpenAPI.document))
    }
}
