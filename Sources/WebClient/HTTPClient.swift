internal import CCurl

/// An HTTP client based on the system's libcurl: connections are reused, certificates are verified against
/// the system's store, and redirects are not followed.
///
/// One thread drives all transfers of a client. It starts with the first one and ends with the client.
package final class HTTPClient: Sendable {
    package static let shared = HTTPClient()

    private let driver: TransferDriver

    package init() { driver = TransferDriver() }
    deinit { driver.stop() }

    /// Sends a request and returns the whole response.
    ///
    /// - Throws: `HTTPFetchError`.
    package func send(_ fetch: HTTPFetch) async throws(HTTPFetchError) -> HTTPFetchResponse {
        var body: [UInt8] = []
        let stream = try await stream(fetch)
        do { for try await piece in stream.body { body += piece } } catch let error as HTTPFetchError {
            throw error
        } catch {
            throw HTTPFetchError(kind: .cancelled, description: "the task was cancelled")
        }
        // A stream ends without an error if its reader is cancelled.
        guard !Task.isCancelled else {
            throw HTTPFetchError(kind: .cancelled, description: "the task was cancelled")
        }
        return HTTPFetchResponse(head: stream.head, body: body)
    }

    /// Sends a request and returns when the response head has arrived; the body follows as a stream.
    ///
    /// The transfer ends at its timeout, if the task that awaits the head is cancelled, or if the body is no longer read.
    package func stream(
        _ fetch: HTTPFetch
    ) async throws(HTTPFetchError) -> (head: HTTPFetchHead, body: AsyncThrowingStream<[UInt8], any Error>) {
        let (body, pieces) = AsyncThrowingStream<[UInt8], any Error>.makeStream()
        let transfer = try Transfer(fetch, pieces)
        pieces.onTermination = { [driver] _ in driver.cancel(transfer) }
        let head: Result<HTTPFetchHead, HTTPFetchError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                transfer.wait(continuation)
                driver.add(transfer)
            }
        } onCancel: { [driver] in
            driver.cancel(transfer)
        }
        return (try head.get(), body)
    }
}
