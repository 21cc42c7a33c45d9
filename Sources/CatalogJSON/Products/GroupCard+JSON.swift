internal import Catalog
internal import JSON

extension GroupCard {
    /// Writes the numbers of members of a product that represents a group.
    func write(to json: inout JSONWriter) {
        json.field("members_matching", matching)
        json.field("members_total", total)
    }

    /// The same as text, after a comma.
    var text: [UInt8] {
        let object = JSONWriter.object { write(to: &$0) }
        return [UInt8(ascii: ",")] + object.dropFirst().dropLast()
    }
}
