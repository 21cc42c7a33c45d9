import Catalog
import HTTPTypes
import Hummingbird
import Testing

@testable import CatalogHTTP

@Suite(.timeLimit(.minutes(15))) struct EndpointTableTests {
    private static func endpoint(_ method: HTTPRequest.Method, _ path: String) -> Endpoint {
        Endpoint(method, path, .open, nil) { _ in Response(status: .ok) }
    }

    private let table = EndpointTable([
        endpoint(.delete, "/v1/shelves/{shelf}"),
        endpoint(.get, "/v1/shelves/{shelf}"),
        endpoint(.patch, "/v1/shelves/{shelf}"),
        endpoint(.post, "/v1/shelves/order/moves"),
        endpoint(.get, "/v1/shelves/{shelf}/products"),
        endpoint(.put, "/v1/shelves/{shelf}/products/{sku}"),
        endpoint(.get, "/v1/settings/{key}"),
        endpoint(.get, "/v1/lists/{list}"),
        endpoint(.get, "/"),
    ])

    private func path(_ segments: String...) -> String? {
        table.match(segments)?.resource.endpoints.first?.path
    }

    @Test("A path matches its template")
    func findsTemplates() throws {
        #expect(path("v1", "shelves", "dairy") == "/v1/shelves/{shelf}")
        #expect(path("v1", "shelves", "dairy", "products") == "/v1/shelves/{shelf}/products")
        #expect(path("") == "/")
        let found = try #require(table.match(["v1", "shelves", "dairy", "products", "C 1"]))
        #expect(try found.parameters.shelf.text == "dairy")
        #expect(try found.parameters.sku.text == "C 1")
    }

    @Test("A fixed segment comes before a parameter, which still matches if the rest does not")
    func fixedSegmentsComeFirst() {
        #expect(path("v1", "shelves", "order", "moves") == "/v1/shelves/order/moves")
        #expect(path("v1", "shelves", "order") == "/v1/shelves/{shelf}")
        #expect(path("v1", "shelves", "order", "products") == "/v1/shelves/{shelf}/products")
    }

    @Test("An unknown path, or one that is too long or too short, matches nothing")
    func unknownPathsMatchNothing() {
        #expect(path("v1") == nil)
        #expect(path("v1", "shelves") == nil)
        #expect(path("v1", "shelves", "dairy", "") == nil)
        #expect(path("v1", "shelves", "dairy", "products", "a", "b") == nil)
        #expect(table.match([]) == nil)
    }

    @Test("A segment with an invalid parameter value matches nothing")
    func invalidParametersMatchNothing() {
        #expect(path("v1", "shelves", "Not A Key") == nil)
        #expect(path("v1", "lists", "not-a-uuid") == nil)
        #expect(path("v1", "lists", "01890a5d-ac96-774b-bcce-b302099a8057") == "/v1/lists/{list}")
    }

    @Test("The key parameter of a setting captures the rest of the path")
    func restParameters() throws {
        let found = try #require(table.match(["v1", "settings", "a", "b", "", "c"]))
        #expect(found.parameters.settingName == "a/b//c")
        #expect(table.match(["v1", "settings", ""])?.parameters.settingName == "")
        #expect(table.match(["v1", "settings"]) == nil)
    }

    @Test("Allow lists HEAD, the methods in a fixed order, and OPTIONS")
    func allow() {
        #expect(table.match(["v1", "shelves", "dairy"])?.resource.allow == "HEAD, GET, PATCH, DELETE, OPTIONS")
        #expect(table.match(["v1", "shelves", "order", "moves"])?.resource.allow == "POST, OPTIONS")
    }

    @Test("A resource has only its own methods")
    func methods() throws {
        let resource = try #require(table.match(["v1", "shelves", "dairy"])).resource
        #expect(resource.endpoint(.get) != nil)
        #expect(resource.endpoint(.put) == nil)
    }

    @Test("An invalid SKU is detected where a valid one would match")
    func invalidSKU() {
        #expect(table.invalidSKU(["v1", "shelves", "dairy", "products", "a/b"]) == "a/b")
        #expect(table.invalidSKU(["v1", "shelves", "dairy", "products", "a"]) == nil)
        #expect(table.invalidSKU(["v1", "unknown", "products", "a/b"]) == nil)
        #expect(table.invalidSKU(["products"]) == nil)
    }

    @Test("A missing path parameter is an internal error, not a crash")
    func missingParameters() throws {
        let parameters = try #require(table.match(["v1", "shelves", "dairy"])).parameters
        #expect(throws: CatalogError.fault("the path has no parameter {store}")) { try parameters.store }
    }
}
