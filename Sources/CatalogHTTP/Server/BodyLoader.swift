internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird
internal import JSON
internal import NIOCore

/// Reads request bodies within size and time limits.
struct BodyLoader: Sendable {
    /// The standard body limit, in bytes.
    let limit: Int
    /// The timeout for receiving a body; large bodies get more time.
    let timeout: Duration

    /// The minimum transfer rate of a large body, in bytes per second.
    private static let minimumRate = 128 << 10

    /// - Parameters:
    ///   - types: the media types that are accepted; nil for any.
    ///   - limit: the maximum length, in bytes.
    func bytes(_ call: Call, types: [String]?, limit: Int) async throws -> [UInt8] {
        let request = call.request
        if let types, let type = request.mediaType, !types.contains(type) {
            throw Problem(.unsupportedMediaType, "unsupported body type \(type.prefix(64))", allowed: types)
        }
        try Self.checkCoding(request)
        let given = request.headers[.contentLength].flatMap { Int($0) }
        if let given, given > limit { throw Self.tooLarge(limit) }
        call.heldBody?.ask()
        // A large body takes longer.
        let length = given ?? (request.headers[.transferEncoding] == nil ? 0 : limit)
        func collect() async throws -> [UInt8] {
            do { return try await Self.collect(request.body, limit, call.bodyPermit) } catch let error
                as CatalogError
            {
                throw error
            } catch let problem as Problem {
                throw problem
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw Self.incomplete
            }
        }
        guard let deadline = call.deadline else { return try await collect() }
        let limit = timeout + .seconds(length / Self.minimumRate)
        return try await deadline.withLimit(limit, or: Self.timedOut, collect)
    }

    private static func collect(_ body: RequestBody, _ limit: Int, _ permit: BodyPermit?) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await var piece in body {
            let count = piece.readableBytes
            guard bytes.count + count <= limit else { throw tooLarge(limit) }
            try permit?.add(count)
            bytes.append(contentsOf: piece.readBytes(length: count) ?? [])
        }
        return bytes
    }

    static func json(_ bytes: [UInt8]) throws(CatalogError) -> JSONValue {
        do { return try JSONReader.parse(bytes) } catch {
            throw CatalogError.malformed(
                parameter: nil,
                detail: "invalid JSON at byte \(error.offset): \(error.detail)"
            )
        }
    }

    /// Returns whether the body has the content coding gzip.
    ///
    /// - Parameter allowsGzip: whether the endpoint decompresses bodies.
    /// - Throws: a problem for a body with another content coding.
    @discardableResult
    static func checkCoding(_ request: Request, allowsGzip: Bool = false) throws -> Bool {
        let coding = request.headers[.contentEncoding]?.lowercased() ?? "identity"
        if allowsGzip, coding == "gzip" { return true }
        guard coding == "identity" else {
            throw Problem(
                .unsupportedMediaType,
                "unsupported content coding \(coding.prefix(32)); send the body uncompressed\(allowsGzip ? ", or with gzip" : "")"
            )
        }
        return false
    }

    static func tooLarge(_ limit: Int) -> Problem {
        var problem = Problem(.tooLarge, "the body exceeds the limit of \(limit) bytes")
        problem.closesConnection = true
        return problem
    }

    static var timedOut: Problem {
        var problem = Problem(
            .payloadTimeout,
            "the body did not arrive in time; check the connection, or send a smaller body"
        )
        problem.closesConnection = true
        return problem
    }

    /// The error for an incomplete or malformed body.
    static let incomplete = CatalogError.malformed(
        parameter: nil,
        detail: "the body is incomplete or its HTTP framing is invalid"
    )
}

extension Request {
    /// The media type of the body, without parameters; nil if there is no Content-Type.
    var mediaType: String? {
        headers[.contentType].map { header in
            (header.split(separator: ";").first ?? "").lowercased().filter { $0 != " " }
        }
    }
}

/// A body that the client sends only once it is asked for it (RFC 9110, section 10.1.1).
struct HeldBody: Sendable {
    /// The client's connection.
    let channel: any Channel

    /// Asks the client for the body.
    func ask() { channel.triggerUserOutboundEvent(ExchangeHandler.BodyRequest(), promise: nil) }
}

extension Request {
    /// Whether the client may wait for an interim response before it sends the body.
    var expectsContinue: Bool { headers[.expect]?.lowercased().contains("100-continue") ?? false }
}
