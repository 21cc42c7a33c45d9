internal import Guides

/// A diagram of the guides.
struct Diagram: Sendable {
    /// The name in its address.
    let name: String
    let svg: [UInt8]

    static let all = Guides.diagrams.map { Diagram(name: $0.name, svg: $0.svg) }
}
