internal import Guides

/// A diagram of the guides.
struct Diagram: Sendable {
    /// The name in its address.
    let name: String
    let file: StaticFile

    static let all = Guides.diagrams.map { Diagram(name: $0.name, file: StaticFile($0.svg, "image/svg+xml")) }
}
