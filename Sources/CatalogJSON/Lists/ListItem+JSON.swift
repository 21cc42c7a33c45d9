internal import JSON
package import Catalog

extension ListItem {
    package func json(_ facts: ListFacts) -> [UInt8] {
        var json = JSONWriter()
        write(facts, withProduct: true, day: Timestamp.now().day, to: &json)
        return json.bytes
    }

    func write(_ facts: ListFacts, withProduct: Bool, day: Int, to json: inout JSONWriter) {
        let known = product.flatMap { facts.products[$0] }
        json.object { json in
            json.field("id", id.text)
            json.field("store", product?.store.text)
            json.field("sku", product?.sku.text)
            json.field("name", facts.name(of: self))
            json.field("text", text)
            json.field("quantity", quantity.description)
            json.field("note", note)
            json.field("checked", isChecked)
            json.field("version", version)
            json.field("created_at", createdAt.rfc3339)
            json.field("modified_at", modifiedAt.rfc3339)
            if isDeleted { json.field("deleted", true) }
            guard withProduct else { return }
            if let known {
                json.key("product")
                ProductPresentation(store: known.store, day: day).write(known.product, to: &json)
            } else {
                json.field("product", json: "null")
            }
        }
    }
}
