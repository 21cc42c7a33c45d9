internal import JSON
internal import CatalogJSON
internal import Guides

/// A guide of the documentation.
struct Guide: Sendable {
    /// The name in its address.
    let name: String
    let markdown: [UInt8]
    let file: StaticFile

    /// All guides, in reading order.
    static let all = Guides.all.map { guide in
        Guide(
            name: guide.name,
            markdown: guide.markdown,
            file: StaticFile(guide.markdown, "text/markdown; charset=utf-8")
        )
    }

    /// The first heading.
    var title: String {
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
