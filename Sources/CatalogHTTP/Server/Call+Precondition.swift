internal import Catalog
internal import HTTPTypes

/// The expectation of an `If-Match` header.
enum MatchExpectation {
    /// Any version of a resource that exists.
    case any
    case versions(Set<Int64>)

    /// The expected versions; nil for any.
    var versions: Set<Int64>? { if case .versions(let versions) = self { versions } else { nil } }
}

extension Call {
    /// Returns the versions in `If-Match`; nil without the header.
    ///
    /// - Parameters:
    ///   - resource: the resource and an example of its entity tags, for the error message.
    ///   - version: returns the version in an entity tag without its quotes; nil for a tag of another kind.
    /// - Throws: `malformed` for a tag of another kind, also a weak one: it would never match (RFC 9110, section 13.1.1).
    func expectation(
        _ resource: String,
        _ version: (Substring) -> Int64?
    ) throws(CatalogError) -> MatchExpectation? {
        guard let tags = try matchingTags(resource, isValid: { version($0) != nil }) else { return nil }
        let versions = tags.compactMap { version($0.dropFirst().dropLast()) }
        return versions.isEmpty ? .any : .versions(Set(versions))
    }

    /// Returns the entity tags in `If-Match`, with their quotes; none for `*`, and nil without the header.
    ///
    /// - Parameters:
    ///   - resource: the resource and an example of its entity tags, for the error message.
    ///   - isValid: returns whether the resource may have an entity tag, which is without its quotes.
    /// - Throws: `malformed` for a tag of another kind, also a weak one: it would never match (RFC 9110, section 13.1.1).
    func matchingTags(
        _ resource: String,
        isValid: (Substring) -> Bool = { _ in true }
    ) throws(CatalogError) -> Set<String>? {
        guard let header = header(.ifMatch) else { return nil }
        var tags: Set<String> = []
        for part in header.split(separator: ",") {
            let tag = part.filter { $0 != " " && $0 != "\t" }
            if tag == "*" { return [] }
            guard tag.count > 2, tag.hasPrefix("\""), tag.hasSuffix("\""), isValid(tag.dropFirst().dropLast()) else {
                throw .malformed(
                    parameter: "If-Match",
                    detail: "“\(tag.prefix(64))” is not an entity tag of \(resource)"
                )
            }
            tags.insert(tag)
        }
        guard !tags.isEmpty else {
            throw .malformed(parameter: "If-Match", detail: "If-Match must have an entity tag of \(resource), or *")
        }
        return tags
    }

    /// Returns the expectation of `If-Match` for a resource with the hash of its JSON as entity tag; nil without the header. A missing
    /// resource is never as expected.
    ///
    /// - Parameters:
    ///   - resource: the resource and an example of its entity tags, for the error message.
    ///   - json: returns the JSON of the resource.
    /// - Throws: `malformed` for a tag that no resource has.
    func hashExpectation<Resource>(
        _ resource: String,
        _ json: @escaping @Sendable (Resource) -> [UInt8]
    ) throws(CatalogError) -> (@Sendable (Resource?) -> Bool)? {
        guard let tags = try matchingTags(resource) else { return nil }
        return { found in
            guard let found else { return false }
            return tags.isEmpty || tags.contains(Self.hash(json(found)))
        }
    }
}
