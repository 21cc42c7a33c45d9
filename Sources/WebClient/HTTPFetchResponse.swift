/// A response of another server.
package struct HTTPFetchResponse: Sendable {
    package let head: HTTPFetchHead
    package let body: [UInt8]

    package var status: Int { head.status }
}
