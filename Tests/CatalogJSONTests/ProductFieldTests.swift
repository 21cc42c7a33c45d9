import JSON
import Catalog
import CatalogJSON
import TestSupport
import Testing

@Suite("Product fields") struct ProductFieldTests {
    private static let store = Store(key: CatalogKey("shop")!, title: "Shop", currency: Currency("EUR")!)

    private func json(_ product: Product) throws -> JSONValue {
        var json = JSONWriter()
        ProductPresentation(store: Self.store).write(product, shelves: [], to: &json)
        return try JSONReader.parse(json.bytes)
    }

    @Test("The complete product differs from a new one in every field")
    func completeProductIsComplete() {
        let new = Mirror(reflecting: Product(sku: SKU("new")!, name: "New"))
        for (field, empty) in zip(Mirror(reflecting: Product.complete).children, new.children) {
            #expect(String(reflecting: field.value) != String(reflecting: empty.value), "\(field.label ?? "")")
        }
    }

    @Test(
        "A patch of the price keeps a regular price only above it, unless it sets one",
        arguments: [
            (#"{"price_minor":300}"#, Int64?(349)), (#"{"price_minor":349}"#, nil), (#"{"price_minor":null}"#, nil),
            (#"{"price_minor":400,"regular_price_minor":349}"#, 349), (#"{"name":"Milk"}"#, 349),
        ]
    )
    func patchesFollowTheRuleOfPrices(_ patch: String, _ regular: Int64?) throws {
        let product = Product(sku: SKU("a")!, name: "A", priceMinor: 299, regularPriceMinor: 349)
        let patched = try product.merging(try JSONReader.parse(Array(patch.utf8)), in: Self.store)
        #expect(patched.regularPriceMinor == regular)
    }

    @Test("The audited fields have the values of a response")
    func auditedFieldsAreThoseOfResponses() throws {
        for product in [Product.complete, Product(sku: SKU("new")!, name: "New")] {
            let members = try product.members()
            #expect(members.count == ProductField.allCases.count(where: \.isSetByRequests))
            let names = Set(members.map(\.name))
            #expect(try json(product).members?.filter { names.contains($0.name) } == members)
        }
    }

    @Test("A response that is sent back sets every field that clients set")
    func responseIsARequest() throws {
        let sent = Product.complete
        let read = try Product(sku: sent.sku, currency: Self.store.currency, body: try json(sent))
        #expect(read == sent.withServerFields(of: read))
    }

    @Test("A new product is sent back unchanged")
    func newProductIsARequest() throws {
        let sent = Product(sku: SKU("new")!, name: "New")
        let read = try Product(sku: sent.sku, currency: Self.store.currency, body: try json(sent))
        #expect(read == sent.withServerFields(of: read))
    }
}
