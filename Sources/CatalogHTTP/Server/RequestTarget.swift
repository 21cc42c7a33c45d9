internal import Catalog
internal import CatalogJSON

/// The path and query of a request, decoded.
struct RequestTarget {
    /// The path's segments, without the empty first one.
    let segments: [String]
    private let parameters: [(name: String, value: String)]

    /// - Throws: `malformed` for invalid percent-encoding, invalid UTF-8, or a NUL.
    init(path: String, query: String?) throws(CatalogError) {
        var segments: [String] = []
        for part in path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let text = PercentEncoding.decode(part) else {
                throw .malformed(parameter: nil, detail: "the path is not valid percent-encoded UTF-8")
            }
            segments.append(text)
        }
        self.segments = segments
        var parameters: [(String, String)] = []
        for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PercentEncoding.decode(halves[0], plusIsSpace: true),
                let value = halves.count > 1 ? PercentEncoding.decode(halves[1], plusIsSpace: true) : ""
            else { throw .malformed(parameter: nil, detail: "the query is not valid percent-encoded UTF-8") }
            parameters.append((name, value))
        }
        self.parameters = parameters
    }

    /// Returns the error for the first parameter that is not among some; nil if all are.
    ///
    /// - Parameter takesFilters: whether others may be filters by attributes, which are looked up later. The name of a parameter of pages is
    ///   never that of an attribute.
    func rejection(allowing names: [String], takesFilters: Bool = false) -> CatalogError? {
        func isOfPages(_ name: String) -> Bool { PageRequest.parameterNames.contains(name) }
        func mayBeFilter(_ name: String) -> Bool { takesFilters && FilterKey(name: name) != nil && !isOfPages(name) }
        guard let name = parameters.lazy.map(\.name).first(where: { !names.contains($0) && !mayBeFilter($0) })
        else { return nil }
        let rest =
            takesFilters && isOfPages(name)
            ? "; this request does not take “\(name)”, a parameter of pages; remove it" : ""
        return .malformed(
            parameter: String(name.prefix(64)),
            detail: "unknown query parameter\(rest)",
            allowed: names
        )
    }

    /// - Throws: `malformed` for a repeated parameter.
    func value(_ name: String) throws(CatalogError) -> String? {
        let found = values(name)
        guard found.count <= 1 else { throw .malformed(parameter: name, detail: "\(name) must be given only once") }
        return found.first
    }

    func values(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

    func sort(_ name: String = "sort") throws(CatalogError) -> Sort? {
        guard let text = try value(name) else { return nil }
        do { return try Sort.parse(text, allowsRelevance: true) } catch {
            throw .unknownSortKey(error, parameter: name)
        }
    }

    /// Parses the search; nil if there is none.
    func search() throws(CatalogError) -> SearchText? {
        try value("q").map { text throws(CatalogError) in try SearchText(parameter: text) }
    }

    /// Parses the filter parameters; nil if there are none. Those of attributes are looked up later.
    ///
    /// - Parameter names: the other parameters of the endpoint.
    func filter(apartFrom names: [String]) throws(CatalogError) -> Filter? {
        var given: [FilterKey: [String]] = [:]
        for (name, value) in parameters where !names.contains(name) {
            if let key = FilterKey(name: name), key.isAttribute { given[key, default: []].append(value) }
        }
        return try Filter(attributes: given) { values($0.name) }
    }

    /// Returns the names of the parameters that may be filters by attributes.
    ///
    /// - Parameter names: the other parameters of the endpoint.
    func attributeFilters(apartFrom names: some Collection<String>) -> [String] {
        parameters.lazy.map(\.name).filter { !names.contains($0) && FilterKey(name: $0) != nil }
    }

    func limit(
        default fallback: Int = PageRequest.defaultLimit,
        in limits: ClosedRange<Int> = PageRequest.limits
    ) throws(CatalogError) -> Int {
        guard let text = try value("limit") else { return fallback }
        guard let limit = Int(text), limits.contains(limit) else {
            let rule = "between \(limits.lowerBound) and \(limits.upperBound)"
            throw .malformed(
                parameter: "limit",
                detail: "limit must be an integer \(rule) (got “\(text.prefix(64))”)"
            )
        }
        return limit
    }

    /// Returns the cursor of a page; nil for the first page.
    func cursor(_ codec: CursorCodec) throws(CatalogError) -> Cursor? {
        guard let text = try value("cursor") else { return nil }
        return try codec.decode(text)
    }

    func choice<C: RawRepresentable & CaseIterable>(_ name: String) throws(CatalogError) -> C?
    where C.RawValue == String {
        guard let text = try value(name) else { return nil }
        guard let choice = C(rawValue: text) else {
            throw .malformed(
                parameter: name,
                detail:
                    "\(name) must be \(C.allCases.map(\.rawValue).joined(separator: ", ")) (got “\(text.prefix(64))”)",
                allowed: C.allCases.map(\.rawValue)
            )
        }
        return choice
    }

    func flag(_ name: String) throws(CatalogError) -> Bool { try optionalFlag(name) ?? false }

    /// Parses a flag; nil if it is missing.
    func optionalFlag(_ name: String) throws(CatalogError) -> Bool? {
        switch try value(name) {
        case nil: nil
        case "false": false
        case "true", "": true
        default: throw .malformed(parameter: name, detail: "\(name) must be true or false", allowed: ["true", "false"])
        }
    }
}

extension RequestTarget {
    /// The key of the store in the path; nil without one.
    var store: CatalogKey? {
        segments.starts(with: ["v1", "stores"]) ? segments.dropFirst(2).first.flatMap(CatalogKey.init) : nil
    }

    /// Whether `include` asks for the shelves below a shelf; nil if it is missing.
    func includesDescendants() throws(CatalogError) -> Bool? {
        switch try value("include") {
        case nil: nil
        case "descendants": true
        default:
            throw .malformed(parameter: "include", detail: "include must be descendants", allowed: ["descendants"])
        }
    }

    /// Whether each group of products has one card; nil if the request does not say so.
    func collapsesGroups() throws(CatalogError) -> Bool? { try optionalFlag("collapse") }

    /// Parses a time; nil if it is missing.
    func timestamp(_ name: String) throws(CatalogError) -> Timestamp? {
        guard let text = try value(name) else { return nil }
        guard let time = Timestamp(rfc3339: text) else {
            throw .malformed(
                parameter: name,
                detail: "\(name) must be a time such as 2026-03-01T08:00:00Z (got “\(text.prefix(64))”)"
            )
        }
        return time
    }

    /// Parses a revision or version that a client has.
    func revision(_ name: String) throws(CatalogError) -> Int64? {
        guard let text = try value(name) else { return nil }
        guard let revision = Int64(text), revision >= 0 else {
            throw .malformed(parameter: name, detail: "\(name) must be a revision, a non-negative integer")
        }
        return revision
    }
}
