internal import Catalog
internal import JSON

extension GroupCard {
    /// Writes the members of a product that represents a group.
    func write(_ presentation: ProductPresentation, to json: inout JSONWriter) {
        json.field("members_matching", matching)
        json.field("members_total", total)
        if let members { json.array("members", members) { presentation.write($1, to: &$0) } }
    }

    /// The same as text, after a comma.
    func text(_ presentation: ProductPresentation) -> [UInt8] {
        let object = JSONWriter.object { write(presentation, to: &$0) }
        return [UInt8(ascii: ",")] + object.dropFirst().dropLast()
    }
}
