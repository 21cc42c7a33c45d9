package import JSON
package import Catalog

extension FilterOption {
    package func write(to json: inout JSONWriter) {
        json.object { json in
            json.field("filter", key.name)
            json.field("title", title)
            json.field("type", key.typeName)
            json.field("repeatable", key.isRepeatable)
            json.field("selected", json: selected.text)
        }
    }
}
