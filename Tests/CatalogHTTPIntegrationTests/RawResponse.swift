import Foundation

/// A response as it was sent, parsed strictly (RFC 9112).
struct RawResponse {
    let version: String
    let status: Int
    /// The fields, by lowercase names.
    let fields: [String: String]
    /// The body without its framing.
    let body: String
    /// The bytes behind the response.
    let rest: String

    /// Parses the first response of some bytes; nil if it is incomplete.
    ///
    /// - Parameter isHead: whether it answers HEAD, and so has no body, whatever its fields say.
    init?(_ text: String, isHead: Bool = false) {
        let bytes = Array(text.utf8)
        guard let end = bytes.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ", maxSplits: 2)
        guard words.count >= 2, let status = Int(words[1]) else { return nil }
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            fields[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        }
        var rest = bytes[end.upperBound...]
        var body: ArraySlice<UInt8> = []
        if isHead || status < 200 || [204, 304].contains(status) {
        } else if fields["transfer-encoding"] == "chunked" {
            guard let chunks = Self.chunks(&rest) else { return nil }
            body = chunks
        } else if let length = fields["content-length"] {
            guard let length = Int(length), length <= rest.count else { return nil }
            body = rest.prefix(length)
            rest = rest.dropFirst(length)
        } else {
            (body, rest) = (rest, [])
        }
        version = String(words[0])
        self.status = status
        self.fields = fields
        self.body = String(decoding: body, as: UTF8.self)
        self.rest = String(decoding: rest, as: UTF8.self)
    }

    /// Removes a chunked body and returns its content; nil if it is incomplete.
    private static func chunks(_ bytes: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        var content: ArraySlice<UInt8> = []
        while let line = bytes.firstRange(of: [13, 10]) {
            guard let size = Int(String(decoding: bytes[..<line.lowerBound], as: UTF8.self), radix: 16) else {
                return nil
            }
            let data = bytes[line.upperBound...]
            guard data.count >= size + 2, data.dropFirst(size).prefix(2) == [13, 10] else { return nil }
            content += data.prefix(size)
            bytes = data.dropFirst(size + 2)
            if size == 0 { return content }
        }
        return nil
    }
}
