internal import Catalog
internal import CatalogJSON
internal import HTTPTypes
internal import Hummingbird
internal import NIOCore

/// Reads the bodies of requests within their limits of size and time.
struct BodyLoader: Sendable {
    /// The most bytes of most bodies.
    let limit: Int
    /// How long a body may take to arrive; large ones get more.
    let timeout: Duration
    /// The large bodies that can arrive at the same time.
    let largeBodies: Slots

    /// The lowest rate, in bytes a second, at which a large body may arrive.
    private static let lowestRate = 128 << 10

    /// - Parameter types: the media types that are accepted; nil for any.
    func bytes(_ request: Request, types: [String]?, limit: Int) async throws -> [UInt8] {
        if let types, let type = request.mediaType, !types.contains(type) {
            throw Problem(.unsupportedMediaType, "the body is \(type.prefix(64))", allowed: types)
        }
        try Self.checkCoding(request)
        let given = request.headers[.contentLength].flatMap { Int($0) }
        if let given, given > limit { throw Self.tooLarge(limit) }
        // A large body takes its time, and its memory many times over until it is read.
        let length = given ?? (request.headers[.transferEncoding] == nil ? 0 : limit)
        let isLarge = length > self.limit
        guard !isLarge || largeBodies.enter() else { throw CatalogError.unavailable }
        defer { if isLarge { largeBodies.leave() } }
        return try await RequestDeadline.allow(timeout + .seconds(length / Self.lowestRate), or: Self.late) {
            do { return Array(buffer: try await request.body.collect(upTo: limit)) } catch is NIOTooManyBytesError {
                throw Self.tooLarge(limit)
            } catch is CancellationError {
                throw CancellationError()
            } catch {
                throw Self.broken
            }
        }
    }

    static func json(_ bytes: [UInt8]) throws(CatalogError) -> JSONValue {
        do { return try JSONReader.parse(bytes) } catch {
            throw CatalogError.malformed(
                parameter: nil,
                detail: "the body is no JSON that is accepted: \(error.detail), at byte \(error.offset)"
            )
        }
    }

    /// - Throws: a problem for a body in a content coding, which is not read.
    static func checkCoding(_ request: Request) throws {
        let coding = request.headers[.contentEncoding]?.lowercased() ?? "identity"
        guard coding == "identity" else {
            throw Problem(.unsupportedMediaType, "the body is in the coding \(coding.prefix(32)); send it plain")
        }
    }

    static func tooLarge(_ limit: Int) -> Problem {
        var problem = Problem(.tooLarge, "the body has more than \(limit) bytes")
        problem.closes = true
        return problem
    }

    static var late: Problem {
        var problem = Problem(.payloadTimeout, "the body did not arrive in time")
        problem.closes = true
        return problem
    }

    /// A body that breaks off, or whose pieces are malformed.
    static let broken = CatalogError.malformed(
        parameter: nil,
        detail: "the body breaks off, or is not framed as HTTP says"
    )
}

extension Request {
    /// The media type of the body, without parameters; nil if none is named.
    var mediaType: String? {
        headers[.contentType].map { header in
            (header.split(separator: ";").first ?? "").lowercased().filter { $0 != " " }
        }
    }
}
