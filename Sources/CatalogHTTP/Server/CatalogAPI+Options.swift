extension CatalogAPI {
    package struct Options: Sendable {
        /// The allowed CORS origins.
        package var origins: [String] = []
        /// The body limit in bytes, except for imports.
        package var bodyLimit = 1 << 20
        /// The timeout for receiving a body.
        package var bodyTimeout: Duration = .seconds(20)

        /// The maximum number of concurrent imports; further ones get 503 with Retry-After.
        package var concurrentImportLimit = 4
        /// The total time limit of an import.
        package var importTimeout: Duration = .seconds(1800)
        /// The minimum transfer rate of an import's body.
        package var importPace = ImportPace()
        /// The maximum number of concurrent bodies above the body limit; further ones get 503 with Retry-After.
        package var concurrentLargeBodyLimit = 4
        /// The maximum size of the page cache in bytes; 0 disables it.
        package var pageCacheLimit = 32 << 20
        /// The quota of each client; nil for none.
        package var rateLimit: RateLimitPolicy?
        /// The clock of the quotas.
        package var clock: @Sendable () -> ContinuousClock.Instant = { .now }
        /// The proxies whose `X-Forwarded-For` is believed.
        package var trustedProxies = TrustedProxies()
        /// The demo; nil if the server is not a demo.
        package var demo: Demo?
        /// Set by the server when it starts to drain; copies of these options share it.
        package var drainState = DrainState()

        package init() {}
    }
}
