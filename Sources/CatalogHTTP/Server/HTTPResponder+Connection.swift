internal import HTTPTypes
package import Hummingbird
package import HummingbirdCore
package import Logging
internal import NIOCore
internal import NIOHTTP1
internal import NIOHTTPTypes

extension HTTPResponder where Context: InitializableFromSource<ApplicationRequestContextSource> {
    /// Returns HTTP/1.1 connections whose requests this responder answers.
    package func channel(_ configuration: HTTP1Channel.Configuration = .init(), logger: Logger) -> ExchangeChannel {
        let channel = HTTP1Channel(
            responder: { request, writer, channel in
                var response: Response
                do {
                    response = try await respond(
                        to: request,
                        context: Context(source: .init(channel: channel, logger: logger))
                    )
                } catch let error as HTTPParserError {
                    // Hummingbird answers it.
                    throw error
                } catch {
                    logger.debug("a responder failed: \(error)")
                    response = Response(status: .internalServerError)
                }
                response.headers[.date] = HTTPDate.now()
                do { try await writer.write(response: response.head, body: response.body) } catch is HTTPParserError {
                    // Hummingbird would answer again.
                    throw InterruptedResponse()
                }
            },
            configuration: configuration
        )
        return ExchangeChannel(channel)
    }
}

/// A request that became malformed while its response was written.
private struct InterruptedResponse: Error {}
