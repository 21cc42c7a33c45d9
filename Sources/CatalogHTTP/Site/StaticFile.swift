internal import Hummingbird
internal import HTTPTypes
internal import Platform

/// A file of the program, with its entity tag and its compressed form.
struct StaticFile: Sendable {
    let bytes: [UInt8]
    let mediaType: String
    let tag: String
    /// The compressed form; nil if there is none, or it is not smaller.
    let gzip: [UInt8]?

    /// - Parameter isCompressed: false for a file that is made for one request.
    init(_ bytes: [UInt8], _ mediaType: String, isCompressed: Bool = true) {
        self.bytes = bytes
        self.mediaType = mediaType
        tag = Call.hash(bytes)
        let gzip = isCompressed ? Gzip.compress(bytes, level: 9) : nil
        self.gzip = gzip.flatMap { $0.count < bytes.count ? $0 : nil }
    }
}

extension Call {
    /// Returns a file in the coding that the client accepts; 304 if the client has it.
    func file(_ file: StaticFile, cache: String = "public, no-cache", headers extra: HTTPFields = [:]) -> Response {
        var headers = extra
        headers[.vary] = "Accept-Encoding"
        if let known = knownTag(of: file.tag) { return .notModified(known, cache, headers) }
        headers[.contentType] = file.mediaType
        headers[.cacheControl] = cache
        guard let gzip = file.gzip, acceptsGzip else {
            headers[.eTag] = file.tag
            return Response(status: .ok, headers: headers, body: .chunked(file.bytes))
        }
        headers[.eTag] = ContentCoding.gzipTag(file.tag)
        headers[.contentEncoding] = "gzip"
        return Response(status: .ok, headers: headers, body: .chunked(gzip))
    }
}
