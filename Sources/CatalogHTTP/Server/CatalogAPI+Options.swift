package import CatalogJSON
package import Site
package import Telemetry

extension CatalogAPI {
    package struct Options: Sendable {
        /// The allowed CORS origins.
        package var origins: [String] = []
        /// The origins from which the pages may load photos, in addition to their own.
        package var imageOrigins: [WebOrigin] = []
        /// The body limit in bytes, except for imports.
        package var bodyLimit = 1 << 20
        /// The timeout for receiving a body.
        package var bodyTimeout: Duration = .seconds(20)

        /// The maximum number of concurrent imports; further ones get 503 with Retry-After.
        package var concurrentImportLimit = 4
        /// The maximum number of a client's concurrent imports.
        package var importsPerClientLimit = 2
        /// The maximum number of concurrent requests that take much processor time: whole orders, diffs and large bodies.
        package var costlyLimit = 256
        /// The total time limit of an import.
        package var importTimeout: Duration = .seconds(1800)
        /// The minimum transfer rate of an import's body.
        package var importPace = ImportPace()
        /// The maximum size of all bodies in flight, in bytes; further ones get 503 with Retry-After.
        package var bodyMemoryLimit = 256 << 20
        /// The maximum number of a client's event streams.
        package var streamsPerClientLimit = 200
        /// How long a 429 response is delayed, to slow down clients that ignore their quota.
        package var rejectionDelay: Duration = .milliseconds(500)
        /// The maximum size of the page cache in bytes; 0 disables it.
        package var pageCacheLimit = 32 << 20
        /// The rendered products; copies of these options share them.
        package var products = ProductFragments(limit: 32 << 20)
        /// The quota of each client; nil disables all limits per client.
        package var rateLimit: RateLimitPolicy?
        /// The clock of the quotas.
        package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
        /// The proxies whose `X-Forwarded-For` is trusted.
        package var trustedProxies = TrustedProxies()
        /// Whether observations of all requests name the network of the client; those of slow ones always do.
        package var observesClients = false
        /// The tracer of requests; nil for none.
        package var tracer: AisleTracer?
        /// The duration from which a request counts as slow, and its steps are observed; nil for never.
        package var slowRequest: Duration?
        /// The connections that their clients have closed.
        package var departures = Departures()
        /// The demo; nil if the server is not a demo.
        package var demo: Demo?
        /// Set by the server when it starts to drain; copies of these options share it.
        package var drainState = DrainState()

        package init() {}
    }
}
