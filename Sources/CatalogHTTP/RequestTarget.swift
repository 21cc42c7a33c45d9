internal import Catalog

/// The path and query of a request, decoded.
struct RequestTarget {
    /// The path's segments, without the empty first one.
    let segments: [String]
    private let parameters: [(name: String, value: String)]

    /// - Throws: `malformed` for a percent-encoding that is none, invalid UTF-8, or a NUL.
    init(path: String, query: String?) throws(CatalogError) {
        var segments: [String] = []
        for part in path.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let text = Self.decode(part, plusIsSpace: false) else {
                throw .malformed(parameter: nil, detail: "the path is not valid percent-encoded UTF-8")
            }
            segments.append(text)
        }
        self.segments = segments
        var parameters: [(String, String)] = []
        for pair in (query ?? "").utf8.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = Self.decode(halves[0], plusIsSpace: true),
                let value = halves.count > 1 ? Self.decode(halves[1], plusIsSpace: true) : ""
            else { throw .malformed(parameter: nil, detail: "the query is not valid percent-encoded UTF-8") }
            parameters.append((name, value))
        }
        self.parameters = parameters
    }

    /// - Throws: `malformed` for a parameter that the call does not know.
    func allow(_ names: String...) throws(CatalogError) {
        for (name, _) in parameters where !names.contains(name) {
            throw .malformed(parameter: String(name.prefix(64)), detail: "no such query parameter", allowed: names)
        }
    }

    /// - Throws: `malformed` where it is given twice.
    func value(_ name: String) throws(CatalogError) -> String? {
        let found = values(name)
        guard found.count <= 1 else { throw .malformed(parameter: name, detail: "\(name) is given twice") }
        return found.first
    }

    func values(_ name: String) -> [String] { parameters.filter { $0.name == name }.map(\.value) }

    func sort(_ name: String = "sort") throws(CatalogError) -> Sort? {
        guard let text = try value(name) else { return nil }
        do { return try Sort.parse(text) } catch { throw .unknownSortKey(error, parameter: name) }
    }

    func limit(default fallback: Int = PageRequest.defaultLimit) throws(CatalogError) -> Int {
        guard let text = try value("limit") else { return fallback }
        guard let limit = Int(text), PageRequest.limits.contains(limit) else {
            throw .malformed(parameter: "limit", detail: "limit must be a whole number from 1 to 100")
        }
        return limit
    }

    func flag(_ name: String) throws(CatalogError) -> Bool {
        switch try value(name) {
        case nil, "false": false
        case "true", "": true
        default: throw .malformed(parameter: name, detail: "\(name) must be true or false", allowed: ["true", "false"])
        }
    }

    private static func decode(_ text: some Collection<UInt8>, plusIsSpace: Bool) -> String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = Array(text)[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, let high = hex(rest.removeFirst()), let low = hex(rest.removeFirst()) else {
                    return nil
                }
                bytes.append(high << 4 | low)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
            }
        }
        return bytes.contains(0) ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func hex(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    /// Text as a part of a URL: everything but unreserved characters is percent-encoded.
    static func encode(_ text: String) -> String {
        var encoded = ""
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), 48...57, 0x2D, 0x2E,
                0x5F, 0x7E:
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                encoded += "%" + (digits.utf8.count == 1 ? "0" : "") + digits
            }
        }
        return encoded
    }
}

extension RequestTarget {
    /// A revision or version that a client has.
    func revision(_ name: String) throws(CatalogError) -> Int64? {
        guard let text = try value(name) else { return nil }
        guard let revision = Int64(text), revision >= 0 else {
            throw .malformed(parameter: name, detail: "\(name) must be a revision, a whole number")
        }
        return revision
    }
}
