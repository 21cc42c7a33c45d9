internal import HTTPTypes

/// The coding of a response's body (RFC 9110, section 8.4).
enum ContentCoding {
    /// Returns whether a client accepts gzip, by the value of its header `Accept-Encoding`.
    ///
    /// A client that names a coding without a weight prefers it to none.
    static func acceptsGzip(_ header: String?) -> Bool {
        guard let header else { return false }
        var acceptsAny: Bool?
        for part in header.split(separator: ",").prefix(16) {
            let parameters = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let name = parameters.first, ["gzip", "x-gzip", "*"].contains(name) else { continue }
            let weight = parameters.dropFirst().first { $0.hasPrefix("q=") }
            let isAccepted = weight.map { (Double($0.dropFirst(2)) ?? 0) > 0 } ?? true
            if name != "*" { return isAccepted }
            acceptsAny = isAccepted
        }
        return acceptsAny ?? false
    }

    /// Returns the entity tag of the gzip form of a representation: another coding has another tag (RFC 9110, section 8.8.3).
    ///
    /// - Parameter tag: the tag of the form without a coding, with its quotes.
    static func gzipTag(_ tag: String) -> String { "\(tag.dropLast())-gzip\"" }
}

extension Call {
    /// Whether the client accepts gzip.
    var acceptsGzip: Bool { ContentCoding.acceptsGzip(header(.acceptEncoding)) }

    /// Returns the tag that the client sent for a representation: without a coding, or compressed if it accepts that. A cache may
    /// send the tag of a compressed form for a client that does not accept it.
    func knownTag(of tag: String) -> String? {
        let known = knownTags
        if known.isEmpty { return nil }
        if known.contains(tag) || known.contains("*") { return tag }
        let compressed = ContentCoding.gzipTag(tag)
        return known.contains(compressed) && acceptsGzip ? compressed : nil
    }
}
