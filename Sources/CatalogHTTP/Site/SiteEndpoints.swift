internal import HTTPTypes
internal import Hummingbird
internal import Site

/// The pages of the storefront and of the documentation, with their scripts and styles.
struct SiteEndpoints: EndpointGroup {
    private let imagesModule: StaticFile
    /// The files of the pages, hashed and compressed once.
    private static let assets = Dictionary(
        uniqueKeysWithValues: WebAsset.allCases.map { ($0, StaticFile($0.bytes, $0.mediaType)) }
    )
    private static let guides = Dictionary(
        uniqueKeysWithValues: Guide.all.map { ($0.name, StaticFile($0.markdown, "text/markdown; charset=utf-8")) }
    )
    private static let diagrams = Dictionary(
        uniqueKeysWithValues: Diagram.all.map { ($0.name, StaticFile($0.svg, "image/svg+xml")) }
    )
    /// The content security policy of the pages: only their own files, the API, themselves in a frame, and photos.
    /// Source: Content Security Policy 3.
    private let policy: String
    /// The content security policy of a drawing with styles of its own.
    private static let drawingPolicy = "default-src 'none'; style-src 'unsafe-inline'"

    /// - Parameter imageOrigins: the origins of photos, in addition to the pages' own.
    init(imageOrigins: [WebOrigin]) {
        imagesModule = StaticFile(WebAsset.imagesModule(imageOrigins), "text/javascript; charset=utf-8")
        let images = (["'self'"] + imageOrigins.map(\.text)).joined(separator: " ")
        policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src \(images); connect-src 'self'; "
            + "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    }

    var endpoints: [Endpoint] {
        Self.assets.map { asset, file in
            // Query parameters are handled by the page.
            Endpoint(.get, "/\(asset.rawValue)", .open, asset == .docsPage ? .getDocs : nil, timeLimit: nil) {
                web(file, $0)
            }
        } + [
            // The page reads the guide from its address.
            Endpoint(.get, "/docs/{guide}", .open, nil, timeLimit: nil) {
                web(Self.assets[.docsPage]!, $0)
            },
            Endpoint(.get, "/docs/{guide}/markdown", .open, nil, timeLimit: nil) {
                web(Self.guides[try $0.parameters.guide.name]!, $0)
            },
            Endpoint(.get, "/diagrams/{diagram}", .open, nil, timeLimit: nil) {
                web(Self.diagrams[try $0.parameters.diagram.name]!, styled: true, $0)
            },
            Endpoint(.get, "/images.js", .open, nil, timeLimit: nil) {
                web(imagesModule, $0)
            },
            Endpoint(.get, "/pictures/{picture}", .open, nil, timeLimit: nil) {
                // A picture changes only with a release.
                web(
                    StaticFile(try $0.parameters.picture.svg, "image/svg+xml", isCompressed: false),
                    cache: "public, max-age=86400",
                    $0
                )
            },
            Endpoint(.get, "/problems/{slug}", .open, .getProblemType, timeLimit: nil, problem),
        ]
    }

    /// Returns a page or asset; by default, caches must revalidate it on each use.
    ///
    /// - Parameter styled: whether the asset is a drawing with its own styles, which the policy must allow. A drawing has no scripts.
    private func web(
        _ file: StaticFile,
        cache: String = "public, no-cache",
        styled: Bool = false,
        _ call: Call
    ) -> Response {
        call.file(file, cache: cache, headers: pageHeaders(styled ? Self.drawingPolicy : policy))
    }

    /// Returns the help page of a problem kind.
    private func problem(_ call: Call) throws -> Response {
        let kind = try call.parameters.problem
        let others = ProblemKind.allCases.map { other in
            let isThis = other == kind ? " aria-current=\"page\"" : ""
            return
                "<li><a href=\"/problems/\(other.rawValue)\"\(isThis)>\(other.title)<span>\(other.status.code)</span></a></li>"
        }
        let html = StaticPage.html(
            kind.title,
            aside: #"<nav class="shelves chips" aria-label="Problems"><ul>\#(others.joined())</ul></nav>"#,
            """
            <p class="quiet">Status \(kind.status.code), type <code>/problems/\(kind.rawValue)</code></p>
            <p>\(kind.advice)</p>
            <p>Every error is a problem document (RFC 9457, <code>application/problem+json</code>) with a “request_id”. Include it when you report a problem.</p>
            """
        )
        return web(StaticFile(html, "text/html; charset=utf-8", isCompressed: false), call)
    }

    /// Returns the response to a browser's request for a page that does not exist. Returns nil for other clients, and for
    /// addresses of the API, whose errors are problem documents.
    func missingPage(for request: Request) -> Response? {
        guard [.get, .head].contains(request.method), !request.uri.path.hasPrefix("/v1/"),
            request.headers[.accept]?.lowercased().contains("text/html") == true
        else { return nil }
        var headers = pageHeaders(policy)
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.vary] = "Accept"
        return Response(status: .notFound, headers: headers, body: .chunked(StaticPage.missing(request.uri.path)))
    }

    /// The headers of a page with a content security policy.
    private func pageHeaders(_ policy: String) -> HTTPFields {
        [
            .contentSecurityPolicy: policy, .xContentTypeOptions: "nosniff", .init("Referrer-Policy")!: "no-referrer",
        ]
    }
}

// MARK: - Documentation

extension Operation {
    fileprivate static let getDocs = Operation(
        "getDocs",
        .operations,
        "Get the API reference as a page",
        "Returns a page that shows this document.",
        parameters: nil,
        [200: .component("WebPage", isTagged: true)]
    )

    fileprivate static let getProblemType = Operation(
        "getProblemType",
        .operations,
        "Get the explanation of a problem type",
        "Returns a page that explains a problem type.",
        parameters: nil,
        [200: .component("ProblemPage")]
    )
}
