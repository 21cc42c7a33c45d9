internal import Catalog
internal import CatalogHTTP
internal import CatalogJSON
internal import CatalogPostgres
internal import Live
internal import Telemetry

extension ServerSettings {
    /// Returns the options of the API, with parts that the server shares with it.
    func apiOptions(_ demo: Demo?, _ tracer: AisleTracer?, _ departures: Departures) -> CatalogAPI.Options {
        var options = CatalogAPI.Options()
        options.origins = origins
        options.imageOrigins = imageOrigins
        options.demo = demo
        options.tracer = tracer
        options.departures = departures
        options.observesClients = logsRequests
        options.slowRequest = slowRequest
        options.rateLimit = rateLimit
        options.trustedProxies = trustedProxies
        options.bodyMemoryLimit = bodyMegabytes << 20
        options.pageCacheLimit = pageCacheMegabytes << 20
        options.products = ProductFragments(limit: ShelfMemoryShares(limit: shelfMegabytes << 20).products)
        return options
    }

    /// Returns the options of event streams.
    func liveOptions(_ observer: Observer<FeedObservation>) -> LiveHub.Options {
        var options = LiveHub.Options()
        options.subscriptionLimit = streamLimit
        options.observer = observer
        return options
    }
}
