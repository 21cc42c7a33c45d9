internal import HTTPTypes
internal import Hummingbird

/// The pages of the storefront and of the documentation, with their scripts and styles.
struct WebEndpoints: EndpointGroup {
    /// A module that names the origins of photos, so that the pages request no others.
    private let imagesModule: StaticFile
    /// The content security policy of the pages: only their own files, the API, themselves in a frame, and photos.
    /// Source: Content Security Policy 3.
    private let policy: String
    /// The content security policy of a drawing with styles of its own.
    private static let drawingPolicy = "default-src 'none'; style-src 'unsafe-inline'"

    /// - Parameter imageOrigins: the origins of photos, in addition to the pages' own.
    init(imageOrigins: [WebOrigin]) {
        let origins = imageOrigins.map(\.text)
        imagesModule = StaticFile(
            WebAsset.module(
                "The origins, in addition to the pages' own, from which the content security policy allows photos.",
                "imageOrigins",
                origins
            ),
            "text/javascript; charset=utf-8"
        )
        let images = (["'self'"] + origins).joined(separator: " ")
        policy =
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src \(images); connect-src 'self'; "
            + "frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
    }

    var endpoints: [Endpoint] {
        WebAsset.files.map { asset, file in
            // Query parameters are handled by the page.
            Endpoint(.get, "/\(asset.rawValue)", .open, asset == .docsPage ? .getDocs : nil, timeLimit: nil) {
                web(file, $0)
            }
        } + [
            // The page reads the guide from its address.
            Endpoint(.get, "/docs/{guide}", .open, nil, timeLimit: nil) {
                web(WebAsset.files[.docsPage]!, $0)
            },
            Endpoint(.get, "/docs/{guide}/markdown", .open, nil, timeLimit: nil) {
                web(try $0.parameters.guide.file, $0)
            },
            Endpoint(.get, "/diagrams/{diagram}", .open, nil, timeLimit: nil) {
                web(try $0.parameters.diagram.file, styled: true, $0)
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
        let html = Self.page(
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
        let html = Self.page(
            "Page not found",
            aside: "",
            """
            <p>This server has no page at <code>\(Self.escaped(request.uri.path.prefix(256)))</code>. Check the address, or continue with one of these:</p>
            <ul><li><a href="/">Shop</a></li><li><a href="/lists">Lists</a></li><li><a href="/merchandise">Merchandising</a></li><li><a href="/docs">API documentation</a></li></ul>
            """
        )
        var headers = pageHeaders(policy)
        headers[.contentType] = "text/html; charset=utf-8"
        headers[.cacheControl] = "no-store"
        headers[.vary] = "Accept"
        return Response(status: .notFound, headers: headers, body: .chunked(html))
    }

    /// Returns a page that has no scripts.
    ///
    /// - Parameters:
    ///   - aside: the HTML of its navigation.
    ///   - content: the HTML below its heading.
    private static func page(_ title: String, aside: String, _ content: String) -> [UInt8] {
        let html = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) · Aisle</title>
            <link rel="icon" href="/icon.svg" type="image/svg+xml">
            <link rel="stylesheet" href="/style.css">
            </head>
            <body>
            <header class="bar"><a class="brand" href="/">Aisle</a><nav class="pages" aria-label="Pages"><a href="/docs">API</a></nav></header>
            <div class="\(aside.isEmpty ? "single" : "columns")">
            \(aside)
            <main class="docs">
            <h1>\(title)</h1>
            \(content)
            </main>
            </div>
            </body>
            </html>

            """
        return Array(html.utf8)
    }

    /// Returns a text for HTML.
    private static func escaped(_ text: some StringProtocol) -> String {
        text.reduce(into: "") { escaped, character in
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.append(character)
            }
        }
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
