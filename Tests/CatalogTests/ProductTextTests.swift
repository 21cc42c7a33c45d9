import Catalog
import Testing

@Suite(.timeLimit(.minutes(15))) struct ProductTextTests {
    @Test("A text has the same name in JSON and in files, and exports have it", arguments: ProductText.allCases)
    func name(_ text: ProductText) {
        #expect(text.column.columnName == text.name.description)
        #expect(ImportColumn.exported.contains(text.column))
    }

    @Test("Setting a text sets no other one", arguments: ProductText.allCases)
    func value(_ text: ProductText) {
        var product = Product(sku: SKU("milk")!, name: "Milk")
        product[text] = "x"
        #expect(ProductText.allCases.filter { product[$0] == "x" } == [text])
        product[text] = nil
        #expect(product == Product(sku: SKU("milk")!, name: "Milk"))
    }

    @Test("The fields of a product have each text once")
    func fields() {
        #expect(Set(ProductField.allCases).count == ProductField.allCases.count)
        #expect(ProductText.allCases.allSatisfy { ProductField.allCases.contains(.text($0)) })
    }
}
