package import Catalog
package import JSON

extension AttributeDeclaration {
    /// Reads a declaration from a request body. Properties that the server computes are ignored, so that clients can send back what they
    /// read.
    ///
    /// - Throws: as `init(_:_:isStored:)`; `tooLarge`.
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
        let length = document.text.utf8.count
        guard length <= AttributeDefinition.documentLimit else {
            throw .tooLarge(
                "the declaration has \(length) bytes; the maximum is \(AttributeDefinition.documentLimit)"
            )
        }
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
    ///
    /// - Parameter unreadable: the number of products with values of another type, if the response has it.
    package func write(unreadable: Int? = nil, to json: inout JSONWriter) {
        json.object { json in
            json.field("name", name.text)
            json.field("declared_by", isOfStore ? "store" : "deployment")
            for member in definition.members {
                json.key(member.name)
                json.raw(member.value.text)
            }
            if let unreadable { json.field("unreadable_products", unreadable) }
        }
    }

    /// The attribute as the API returns it.
    package var json: [UInt8] { JSONWriter.document { write(to: &$0) } }
}

extension AttributeSet {
    /// The attributes as the API returns them.
    package var json: [UInt8] {
        JSONWriter.object { $0.array("attributes", attributes) { $1.write(to: &$0) } }
    }
}
