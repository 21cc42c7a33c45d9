package import Catalog
package import JSON

extension AttributeDeclaration {
    /// Reads a declaration from a request body. Properties that the server computes are ignored, so that clients can send back what they
    /// read.
    ///
    /// - Throws: as `init(_:_:)`.
    package init(name: AttributeName, body: JSONValue) throws(CatalogError) {
        guard case .object(let members) = body else {
            throw .malformed(parameter: nil, detail: "the body must be a JSON object")
        }
        if let given = members.first(where: { $0.name == "name" })?.value, given != .string(name.text) {
            throw .unprocessable(
                field: "name",
                detail: "name is \(given.text.prefix(64)) in the body and “\(name)” in the path"
            )
        }
        let computed = ["name", "declared_by", "unreadable_products"]
        try self.init(name, .object(members.filter { !computed.contains($0.name) }))
    }

    /// Reads a declaration from the text of a document.
    ///
    /// - Throws: as `init(name:body:)`; `malformed` for a text that is not JSON.
    package init(name: AttributeName, text: [UInt8]) throws(CatalogError) {
        let body: JSONValue
        do { body = try JSONReader.parse(text) } catch {
            throw .malformed(parameter: nil, detail: "invalid JSON at byte \(error.offset): \(error.detail)")
        }
        try self.init(name: name, body: body)
    }
}

extension EffectiveAttribute {
    /// Writes the attribute in the format of responses.
    package func write(to json: inout JSONWriter) { json.object { writeMembers(to: &$0) } }

    private func writeMembers(to json: inout JSONWriter) {
        json.field("name", name.text)
        json.field("declared_by", isOfStore ? "store" : "deployment")
        for member in definition.members {
            json.key(member.name)
            json.raw(member.value.text)
        }
    }

    /// The attribute as the API returns it.
    package var json: [UInt8] { JSONWriter.document { write(to: &$0) } }

    /// Returns the attribute as the API returns it after a declaration.
    ///
    /// - Parameter unreadable: the number of products with values of another type; nil if they were not counted.
    package func json(unreadable: Int?) -> [UInt8] {
        JSONWriter.object { json in
            writeMembers(to: &json)
            json.field("unreadable_products", unreadable)
        }
    }
}

extension AttributeUses {
    /// Writes the uses, of each kind the first ones.
    package func writeMembers(to json: inout JSONWriter) {
        json.field("settings", settings)
        json.array("stores", stores.prefix(Self.listLimit)) { $0.string($1.text) }
        json.array("shelves", shelves.prefix(Self.listLimit)) { json, place in
            json.object { json in
                json.field("store", place.store.text)
                json.field("shelf", place.shelf.text)
            }
        }
        json.array("profiles", profiles.prefix(Self.listLimit)) { $0.string($1.text) }
    }
}

extension AttributeSet {
    /// The attributes as the API returns them.
    package var json: [UInt8] {
        JSONWriter.object { $0.array("attributes", attributes) { $1.write(to: &$0) } }
    }
}
