import Catalog
import CatalogJSON
import HTTPTypes
import Hummingbird
import NIOCore
import Site
import Testing

@testable import CatalogHTTP

/// Routes of requests, their memory, and the endpoints that run on event loops.
@Suite(.timeLimit(.minutes(15))) struct RouteTests {
    private static let id = "018f0000-0000-7000-8000-000000000000"

    @Test("Each parameter of a path is parsed into its own place")
    func parameters() throws {
        var parameters = PathParameters()
        for (name, value) in [
            (PathParameters.Name.store, "s"), (.shelf, "dairy"), (.name, "supplier"), (.sku, "Milk 1"),
            (.list, Self.id), (.item, Self.id.replacing("8000", with: "8001")),
            (.share, Self.id.replacing("8000", with: "8002")), (.slug, "stale"), (.guide, "sorting"),
            (.picture, "carton-2f6fb0.svg"), (.diagram, "diff.svg"), (.key, "a/b"),
        ] {
            let isParsed = parameters.parse(name, value)
            #expect(isParsed, "\(name)")
        }
        #expect(try parameters.store.text == "s" && parameters.shelf.text == "dairy")
        #expect(try parameters.name.text == "supplier" && parameters.sku.text == "Milk 1")
        #expect(parameters.storeIfNamed?.text == "s" && parameters.settingName == "a/b")
        #expect(try parameters.list.text == Self.id)
        #expect(try parameters.item.text == "018f0000-0000-7000-8001-000000000000")
        #expect(try parameters.share.text == "018f0000-0000-7000-8002-000000000000")
        #expect(try parameters.problem == .stale)
        #expect(try parameters.guide.name == "sorting" && parameters.diagram.name == "diff.svg")
        #expect(try parameters.picture.svg.isEmpty == false)
    }

    @Test(
        "A parameter with an invalid value does not match",
        arguments: [
            (PathParameters.Name.store, "A b"), (.shelf, ""), (.name, "/"), (.sku, "a/b"), (.list, "x"), (.item, "x"),
            (.share, "x"), (.slug, "Stale"), (.guide, "none"), (.picture, "none.svg"), (.diagram, "none"),
        ]
    )
    func invalidParameters(name: PathParameters.Name, value: String) {
        var parameters = PathParameters()
        let isParsed = parameters.parse(name, value)
        #expect(!isParsed)
    }

    @Test("A parameter that the path does not have is a fault that names it")
    func missingParameters() {
        let parameters = PathParameters()
        #expect(throws: CatalogError.fault("the path has no parameter {store}")) { try parameters.store }
        #expect(throws: CatalogError.fault("the path has no parameter {shelf}")) { try parameters.shelf }
        #expect(throws: CatalogError.fault("the path has no parameter {name}")) { try parameters.name }
        #expect(throws: CatalogError.fault("the path has no parameter {sku}")) { try parameters.sku }
        #expect(throws: CatalogError.fault("the path has no parameter {list}")) { try parameters.list }
        #expect(throws: CatalogError.fault("the path has no parameter {item}")) { try parameters.item }
        #expect(throws: CatalogError.fault("the path has no parameter {share}")) { try parameters.share }
        #expect(throws: CatalogError.fault("the path has no parameter {slug}")) { try parameters.problem }
        #expect(throws: CatalogError.fault("the path has no parameter {guide}")) { try parameters.guide }
        #expect(throws: CatalogError.fault("the path has no parameter {diagram}")) { try parameters.diagram }
        #expect(throws: CatalogError.fault("the path has no parameter {picture}")) { try parameters.picture }
        #expect(parameters.storeIfNamed == nil && parameters.settingName == "")
    }

    private static func operation(_ parameters: [Parameter]?) -> Operation {
        Operation("a", .stores, "A", "A.", parameters: parameters, [:])
    }

    private static func endpoint(_ method: HTTPRequest.Method, _ parameters: [Parameter]?) -> Endpoint {
        Endpoint(method, "/a", .open, operation(parameters)) { _ in .noContent }
    }

    @Test("The query of each method is checked by its own endpoint, without the headers that it reads")
    func queriesAreChecked() throws {
        let get = Self.endpoint(.get, [.limit, .cursor, .acceptLanguage])
        let (put, post) = (Self.endpoint(.put, []), Self.endpoint(.post, nil))
        #expect(get.queryNames == ["limit", "cursor"] && put.queryNames == [] && post.queryNames == nil)
        let target = try RequestTarget(path: "/a", query: "limit=1")
        let (resource, parameters) = try #require(EndpointTable([get, put, post]).match(["a"]))
        let route = EndpointTable.Route(target: target, resource: resource, parameters: parameters)
        #expect(throws: Never.self) { try route.checkQuery(get) }
        #expect(throws: Never.self) { try route.checkQuery(post) }
        #expect(
            throws: CatalogError.malformed(parameter: "limit", detail: "unknown query parameter", allowed: [])
        ) { try route.checkQuery(put) }
        let language = EndpointTable.Route(
            target: try RequestTarget(path: "/a", query: "Accept-Language=en"),
            resource: resource,
            parameters: parameters
        )
        #expect(throws: CatalogError.self) { try language.checkQuery(get) }
    }

    @Test("Where filters are allowed, other parameters may be attributes, which the plan looks up")
    func filtersByAttributes() throws {
        let (plain, filtered) = (Self.endpoint(.get, [.limit]), Self.endpoint(.get, [.limit] + Parameter.filters))
        #expect(!plain.takesFilters && filtered.takesFilters)
        for (query, isAccepted) in [
            ("limit=1&rating_min=4", true), ("attributes.limit=1", true), ("Rating=1", false), ("a-b=1", false),
            ("=1", false),
        ] {
            let target = try RequestTarget(path: "/a", query: query)
            for (endpoint, isAllowed) in [(plain, false), (filtered, isAccepted)] {
                let (resource, parameters) = try #require(EndpointTable([endpoint]).match(["a"]))
                let route = EndpointTable.Route(target: target, resource: resource, parameters: parameters)
                let isKnown = (try? route.checkQuery(endpoint)) != nil
                #expect(isKnown == isAllowed, "\(query)")
            }
        }
        let target = try RequestTarget(
            path: "/a",
            query: "limit=1&rating_min=4&attributes.limit=5&rating_min=6&brand=x"
        )
        let filter = try RequestTarget(path: "/a", query: "limit=1&rating_min=4&attributes.limit=5&brand=x").filter(
            apartFrom: ["limit"])
        #expect(filter?.query == "brand=x&attributes.limit=5&rating_min=4")
        #expect(throws: CatalogError.self) { try target.filter(apartFrom: ["limit"]) }
        let names = ["limit", "brand"]
        #expect(target.attributeFilters(apartFrom: names) == ["rating_min", "attributes.limit", "rating_min"])
        #expect(try RequestTarget(path: "/a", query: "limit=1&brand=x").attributeFilters(apartFrom: names).isEmpty)
    }

    @Test("The plans of a route are made once")
    func plansAreMadeOnce() throws {
        let route = try Call.sample(.get, "/a").route
        let request = PageRequest(store: CatalogKey("s")!, shelf: CatalogKey("x")!)
        var count = 0
        let plans = try (0..<3).map { _ in
            try route.plans { () throws -> PagePlans in
                count += 1
                return PagePlans(request, path: "/a")
            }
        }
        #expect(count == 1 && plans.allSatisfy { $0 === plans[0] })
        let other = try Call.sample(.get, "/b").route
        #expect(throws: CatalogError.unavailable) {
            try other.plans { () throws -> PagePlans in throw CatalogError.unavailable }
        }
        #expect(other.plans { PagePlans(request, path: "/b") } !== plans[0])
    }

    @Test("The routes of targets of up to 1,024 bytes are remembered")
    func routesAreRemembered() throws {
        let cache = RouteCache()
        let route = try Call.sample(.get, "/a").route
        let longest = "/" + String(repeating: "a", count: 1023)
        for (target, isKept) in [("/a", true), (longest, true), (longest + "a", false)] {
            #expect(cache[target] == nil)
            cache[target] = route
            #expect((cache[target] === route) == isKept)
        }
        #expect(cache["/b"] == nil)
    }

    @Test("A SKU is reported as invalid only in a path of a product")
    func invalidSKUs() async {
        let table = await MemoryAPI().api.table
        #expect(table.invalidSKU(["v1", "stores", "s", "products", ""]) == "")
        #expect(table.invalidSKU(["v1", "stores", "s", "products", "ok"]) == nil)
        #expect(table.invalidSKU(["v1", "stores", "s", "shelves", "x", "products", " a"]) == " a")
        #expect(table.invalidSKU(["v1", "stores", "A b", "products", " a"]) == nil)
        #expect(table.invalidSKU(["v1", "stores", "s", "shelves", " a"]) == nil)
        #expect(table.invalidSKU([" a"]) == nil && table.invalidSKU([]) == nil)
    }

    @Test(
        "A GET of a page or a probe without a body is answered on its event loop, and nothing else",
        arguments: [
            ("GET", "/livez", [:], true), ("GET", "/readyz?for=reads", [:], true),
            ("GET", "/v1/stores/s/shelves/dairy/products?sort=price", [:], true),
            ("GET", "/livez", ["Connection": "Keep-Alive"], true), ("GET", "/livez", ["Connection": "close"], false),
            ("GET", "/livez", ["Content-Length": "0"], false),
            ("GET", "/livez", ["Transfer-Encoding": "chunked"], false),
            ("GET", "/livez", ["Expect": "100-continue"], false), ("HEAD", "/livez", [:], false),
            ("POST", "/livez", [:], false), ("GET", "/v1/stores", [:], false), ("GET", "/nowhere", [:], false),
            ("GET", "/%zz", [:], false), ("GET", "/v1/stores/s/shelves/dairy/order", [:], false),
        ] as [(String, String, [String: String], Bool)]
    )
    func directRoutes(method: String, path: String, headers: [String: String], isDirect: Bool) async throws {
        var head = HTTPRequest(
            method: HTTPRequest.Method(method)!,
            scheme: "http",
            authority: "localhost",
            path: path
        )
        for (name, value) in headers { head.headerFields[HTTPField.Name(name)!] = value }
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        let api = await MemoryAPI().api
        #expect((api.directRoute(of: request) != nil) == isDirect)
    }

    @Test("The server answers its own requests without a token, and is alive")
    func ownRequests() async throws {
        let api = try await MemoryAPI.withShelf().api
        #expect(await api.isAlive())
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/v1/stores")
        #expect(await api.unobservedResponse(to: head)?.status == .ok)
        let missing = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/nowhere")
        #expect(await api.unobservedResponse(to: missing) == nil)
    }

    @Test("Warming up renders the products of the given shelves until the deadline, and a page of the first shelf")
    func warmUp() async throws {
        let bread = ShelfAddress(CatalogKey("s")!, CatalogKey("bread")!)
        let none = ShelfAddress(CatalogKey("s")!, CatalogKey("none")!)
        for (shelves, wait, count) in [([bread], 60, 4), ([none, bread], 60, 4), ([bread], -1, 3), ([], 60, 3)]
            as [([ShelfAddress], Int, Int)]
        {
            let api = try await MemoryAPI.withShelf()
            _ = try await api.send(.put, "/v1/stores/s/shelves/bread", #"{"title":"Bread"}"#)
            _ = try await api.send(.put, "/v1/stores/s/products/loaf", #"{"name":"Loaf"}"#)
            _ = try await api.send(.put, "/v1/stores/s/shelves/bread/products/loaf")
            #expect(api.api.options.products.use.count == 0)
            await api.api.warmUp(shelves, until: .now + .seconds(wait))
            #expect(api.api.options.products.use.count == count)
        }
        let empty = await MemoryAPI()
        await empty.api.warmUp([bread], until: .now + .seconds(60))
        #expect(empty.api.options.products.use.count == 0)
    }
}
