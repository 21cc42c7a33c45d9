internal import Catalog

/// The accepted signature algorithms. Source: RFC 7518, section 3.1.
enum TokenAlgorithm: String, CaseIterable {
    case hs256 = "HS256"
    case es256 = "ES256"
    case rs256 = "RS256"
}
