internal import Catalog
internal import HTTPTypes
internal import Synchronization

/// The routing table of all endpoints, by path segments.
///
/// - Complexity: a match is O(segments × children of a node), without allocation.
struct EndpointTable: Sendable {
    /// The endpoints of one path.
    struct Resource: Sendable {
        fileprivate(set) var endpoints: [Endpoint] = []
        /// The value of the header `Allow`.
        fileprivate(set) var allow = ""

        func endpoint(_ method: HTTPRequest.Method) -> Endpoint? { endpoints.first { $0.method == method } }
    }

    /// A request target and the endpoints of its path.
    final class Route: Sendable {
        let target: RequestTarget
        let resource: Resource
        let parameters: PathParameters
        /// The endpoints that reject the query, and the errors.
        private let rejections: [(method: HTTPRequest.Method, error: CatalogError)]
        private let knownPlans = Mutex<PagePlans?>(nil)

        init(target: RequestTarget, resource: Resource, parameters: PathParameters) {
            self.target = target
            self.resource = resource
            self.parameters = parameters
            rejections = resource.endpoints.compactMap { endpoint in
                endpoint.queryNames.flatMap { target.rejection(allowing: $0, takesFilters: endpoint.takesFilters) }
                    .map { (endpoint.method, $0) }
            }
        }

        /// - Throws: `malformed` if the query has a parameter that the endpoint does not know.
        func checkQuery(_ endpoint: Endpoint) throws(CatalogError) {
            if let rejection = rejections.first(where: { $0.method == endpoint.method }) { throw rejection.error }
        }

        /// Returns the plans of the target's pages; the first time, makes them.
        func plans(_ make: () throws -> PagePlans) rethrows -> PagePlans {
            if let known = knownPlans.withLock({ $0 }) { return known }
            let plans = try make()
            knownPlans.withLock { $0 = plans }
            return plans
        }
    }

    let endpoints: [Endpoint]
    private let root: Node

    /// - Precondition: no two endpoints have the same path and method, and all path parameters have known names.
    init(_ endpoints: [Endpoint]) {
        self.endpoints = endpoints
        var root = Node.Builder()
        for endpoint in endpoints {
            root.add(endpoint, endpoint.path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)[...])
        }
        self.root = root.node()
    }

    /// Returns the endpoints and parameters of a path; nil if unknown. Fixed segments take precedence over parameters.
    func match(_ segments: [String]) -> (resource: Resource, parameters: PathParameters)? {
        var parameters = PathParameters()
        guard let resource = root.match(segments[...], &parameters) else { return nil }
        return (resource, parameters)
    }

    /// Returns the invalid SKU of a path that is otherwise a product path; nil for other paths.
    func invalidSKU(_ segments: [String]) -> String? {
        guard segments.count > 1, segments[segments.count - 2] == "products", let last = segments.last,
            SKU(last) == nil, match(segments.dropLast() + ["x"]) != nil
        else { return nil }
        return last
    }

    /// A node in the tree of segments.
    private final class Node: Sendable {
        private let resource: Resource?
        private let children: [(segment: String, node: Node)]
        private let parameters: [(name: PathParameters.Name, node: Node)]

        private init(
            _ resource: Resource?,
            _ children: [(segment: String, node: Node)],
            _ parameters: [(name: PathParameters.Name, node: Node)]
        ) {
            self.resource = resource
            self.children = children
            self.parameters = parameters
        }

        func match(_ segments: ArraySlice<String>, _ parsed: inout PathParameters) -> Resource? {
            guard let first = segments.first else { return resource }
            let rest = segments.dropFirst()
            for child in children where child.segment == first {
                if let found = child.node.match(rest, &parsed) { return found }
            }
            for parameter in parameters {
                if parameter.name == .key {
                    guard parsed.parse(.key, segments.joined(separator: "/")) else { continue }
                    return parameter.node.resource
                }
                if parsed.parse(parameter.name, first), let found = parameter.node.match(rest, &parsed) { return found }
            }
            return nil
        }

        struct Builder {
            private var resource = Resource()
            private var children: [(segment: String, node: Builder)] = []
            private var parameters: [(name: PathParameters.Name, node: Builder)] = []

            mutating func add(_ endpoint: Endpoint, _ segments: ArraySlice<Substring>) {
                guard let first = segments.first else {
                    precondition(resource.endpoint(endpoint.method) == nil, "\(endpoint.path) has two handlers")
                    return resource.endpoints.append(endpoint)
                }
                let rest = segments.dropFirst()
                guard first.hasPrefix("{") else {
                    let index = children.firstIndex { $0.segment == first } ?? children.endIndex
                    if index == children.endIndex { children.append((String(first), Builder())) }
                    return children[index].node.add(endpoint, rest)
                }
                guard let name = PathParameters.Name(rawValue: String(first.dropFirst().dropLast())) else {
                    preconditionFailure("\(endpoint.path) has an unknown parameter")
                }
                let index = parameters.firstIndex { $0.name == name } ?? parameters.endIndex
                if index == parameters.endIndex { parameters.append((name, Builder())) }
                parameters[index].node.add(endpoint, rest)
            }

            func node() -> Node {
                var resource = resource
                let methods = Self.order.filter { resource.endpoint($0) != nil }
                let head: [HTTPRequest.Method] = methods.contains(.get) ? [.head] : []
                resource.allow = (head + methods + [.options]).map(\.rawValue).joined(separator: ", ")
                return Node(
                    methods.isEmpty ? nil : resource,
                    children.map { ($0.segment, $0.node.node()) },
                    parameters.map { ($0.name, $0.node.node()) }
                )
            }

            /// The order in which `Allow` lists methods.
            private static let order: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete]
        }
    }
}
