internal import CatalogJSON
internal import Crypto
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore
internal import Platform

extension Call {
    /// Returns a JSON response whose entity tag is a hash of its bytes; 304 if the tag matches.
    func hashed(
        _ bytes: [UInt8],
        cache: String = "public, no-cache",
        headers: HTTPFields = [:]
    ) -> Response {
        tagged(Self.hash(bytes), cache: cache, headers: headers, bytes)
    }

    /// Returns the entity tag of a representation that has no version of its own.
    static func hash(_ bytes: [UInt8]) -> String {
        "\"\(Base64URL.encode(Array(SHA256.hash(data: bytes).prefix(12))))\""
    }

    /// Returns a JSON response with an entity tag; 304 if the client has the tag.
    ///
    /// - Parameter bytes: evaluated only if the client does not have the tag.
    func tagged(
        _ tag: String,
        cache: String,
        headers: HTTPFields = [:],
        _ bytes: @autoclosure () -> [UInt8]
    ) -> Response {
        if knows(tag) { return .notModified(tag, cache, headers) }
        let body = StepRecorder.measure(.rendering, "JSON", bytes)
        return .json(body, tag: tag, cache: cache, headers: headers)
    }

    /// Returns a hashed response with a user's private data.
    func hashedPrivate(_ bytes: [UInt8]) -> Response {
        hashed(bytes, cache: "private, no-cache", headers: [.vary: "Authorization"])
    }

    /// Returns the response to a write that may have created the resource at the request's path.
    ///
    /// - Parameters:
    ///   - bytes: the body.
    ///   - representation: the representation that a GET returns; nil if it is the body.
    func written(_ isNew: Bool, _ bytes: [UInt8], of representation: [UInt8]? = nil) -> Response {
        let headers: HTTPFields = isNew ? [.location: path] : [:]
        let tag = Self.hash(representation ?? bytes)
        return .json(bytes, status: isNew ? .created : .ok, tag: tag, headers: headers)
    }

    /// The maximum length of a Link header in bytes: many proxies reject header sections larger than 8 KB.
    private static let linkLimit = 4096

    /// Returns the Link header for the next page; nothing if it would be too long. A JSON body has the cursor, too.
    ///
    /// - Parameter pages: the path of the pages; nil for that of the request.
    func nextLink(_ query: String, _ cursor: String?, of pages: String? = nil) -> HTTPFields {
        guard let cursor else { return [:] }
        let link = "<\(pages ?? path)?\(query)&cursor=\(cursor)>; rel=\"next\""
        return link.utf8.count <= Self.linkLimit ? [.init("Link")!: link] : [:]
    }
}

extension Response {
    static func json(
        _ bytes: [UInt8],
        status: HTTPResponse.Status = .ok,
        tag: String? = nil,
        cache: String = "no-cache",
        headers extra: HTTPFields = [:]
    ) -> Response {
        var headers = extra
        headers[.contentType] = "application/json"
        headers[.cacheControl] = cache
        if let tag { headers[.eTag] = tag }
        return Response(status: status, headers: headers, body: .chunked(bytes))
    }

    static func notModified(_ tag: String, _ cache: String, _ headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.eTag] = tag
        headers[.cacheControl] = cache
        return Response(status: .notModified, headers: headers)
    }

    /// Returns the response to a write, which must not be cached.
    ///
    /// - Parameter tag: the new entity tag of the resource that was written to.
    static func outcome(
        _ bytes: [UInt8],
        status: HTTPResponse.Status = .ok,
        mediaType: String = "application/json",
        tag: String? = nil
    ) -> Response {
        var headers: HTTPFields = [.contentType: mediaType, .cacheControl: "no-store"]
        headers[.eTag] = tag
        return Response(status: status, headers: headers, body: .chunked(bytes))
    }

    static func plain(_ text: String) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "text/plain; charset=utf-8", .cacheControl: "no-store"],
            body: .init(byteBuffer: ByteBuffer(string: text))
        )
    }

    static var noContent: Response { Response(status: .noContent) }
}

extension ResponseBody {
    /// Returns a body; a large one is written in chunks, so that a slow reader does not keep all of it in the connection's
    /// buffer.
    static func chunked(_ bytes: [UInt8]) -> ResponseBody {
        let size = 64 << 10
        guard bytes.count > size else { return ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)) }
        return ResponseBody(contentLength: bytes.count) { writer in
            for start in stride(from: 0, to: bytes.count, by: size) {
                try await writer.write(ByteBuffer(bytes: bytes[start..<min(bytes.count, start + size)]))
            }
            try await writer.finish(nil)
        }
    }
}
