/// The status and headers of a response.
package struct HTTPFetchHead: Sendable {
    package let status: Int
    /// The headers in the order received, with the server's spelling of names.
    package let headers: [(name: String, value: String)]
}
