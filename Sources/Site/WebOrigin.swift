/// An origin from which the pages may load photos, such as `https://images.example`.
package struct WebOrigin: Hashable, Sendable {
    package let text: String

    package static let rule = "http:// or https://, a host, and an optional port, such as https://images.example"

    /// - Returns: nil for anything else, such as an address with a path.
    package init?(_ text: String) {
        let lowercased = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: lowercased.hasPrefix) else { return nil }
        let parts = lowercased.dropFirst(scheme.utf8.count).split(separator: ":", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), !parts[0].isEmpty, !parts[0].hasPrefix("."), !parts[0].hasSuffix("."),
            parts[0].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") })
        else { return nil }
        if parts.count == 2 {
            guard parts[1].allSatisfy({ $0.isASCII && $0.isNumber }), UInt16(parts[1]) != nil else { return nil }
        }
        self.text = lowercased
    }
}
