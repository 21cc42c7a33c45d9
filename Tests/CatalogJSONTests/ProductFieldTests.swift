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

    @Test("The audited fields have the values of a response")
    func auditedFieldsAreThoseOfResponses() throws {
        for product in [Product.complete, Product(sku: SKU("new")!, name: "New")] {
            let members = try product.members()
            #expect(members.count == ProductField.allCases.count(where: \.isAudited))
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
