internal import Guides
internal import JSON

/// A guide of the documentation.
package struct Guide: Sendable {
    /// The name in its address.
    package let name: String
    package let markdown: [UInt8]

    /// All guides, in reading order.
    package static let all = Guides.all.map { Guide(name: $0.name, markdown: $0.markdown) }

    /// The first heading.
    private var title: String {
        String(
            decoding: markdown.prefix { $0 != UInt8(ascii: "\n") }.drop { [0x23, 0x20].contains($0) },
            as: UTF8.self
        )
    }

    /// A module that lists the guides.
    static let module: [UInt8] = {
        var json = JSONWriter(reserving: 1024)
        json.array(all) { json, guide in
            json.array([guide.name, guide.title]) { $0.string($1) }
        }
        return Array("/** The titles of the guides, by name. */\nexport const guides = Object.fromEntries(".utf8)
            + json.bytes
            + Array(");\n".utf8)
    }()
}

/// A diagram of the guides.
package struct Diagram: Sendable {
    /// The name in its address.
    package let name: String
    package let svg: [UInt8]

    package static let all = Guides.diagrams.map { Diagram(name: $0.name, svg: $0.svg) }
}
