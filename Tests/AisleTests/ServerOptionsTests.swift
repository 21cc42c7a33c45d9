import Catalog
import CatalogHTTP
import CatalogJSON
import Live
import Synchronization
import Telemetry
import Testing

@testable import aisle

/// The settings of a server reach the API and the event streams.
@Suite(.timeLimit(.minutes(15))) struct ServerOptionsTests {
    private static func settings(_ environment: [String: String] = [:]) throws -> ServerSettings {
        try ServerSettings([:], environment: environment)
    }

    @Test("Each setting of the API is in its options")
    func apiOptions() throws {
        let settings = try Self.settings([
            "AISLE_CORS_ORIGINS": "https://shop.example", "AISLE_IMAGE_ORIGINS": "https://a.example,https://b.example",
            "AISLE_ACCESS_LOG": "true", "AISLE_SLOW_REQUEST_MS": "77", "AISLE_RATE_LIMIT": "50/5",
            "AISLE_TRUSTED_PROXIES": "10.0.0.0/8", "AISLE_BODY_MEMORY_MB": "160", "AISLE_PAGE_CACHE_MB": "5",
        ])
        let options = settings.apiOptions(nil, nil, Departures())
        #expect(options.origins == ["https://shop.example"])
        #expect(options.imageOrigins.count == 2)
        #expect(options.observesClients)
        #expect(options.slowRequest == .milliseconds(77))
        #expect(options.rateLimit?.burst == 50 && options.rateLimit?.rate == 5)
        #expect(options.trustedProxies.texts == ["10.0.0.0/8"])
        #expect(options.bodyMemoryLimit == 160 << 20)
        #expect(options.pageCacheLimit == 5 << 20)
        #expect(options.demo == nil && options.tracer == nil)
    }

    @Test("Without settings, the options have the defaults of settings")
    func defaults() throws {
        let options = try Self.settings().apiOptions(nil, nil, Departures())
        #expect(options.origins.isEmpty && options.imageOrigins.isEmpty && options.trustedProxies.texts.isEmpty)
        #expect(!options.observesClients)
        #expect(options.slowRequest == .seconds(1))
        #expect(options.rateLimit?.burst == 6000 && options.rateLimit?.rate == 600)
        #expect(options.bodyMemoryLimit == 256 << 20)
        #expect(options.pageCacheLimit == 32 << 20)
    }

    @Test("The API shares the demo, the tracer and the closed connections of the server")
    func sharedParts() throws {
        let demo = Demo(signer: TokenSigner(secret: [UInt8](repeating: 1, count: 32)), storms: [:])
        let tracer = AisleTracer(TraceSampler(.never)) { _ in }
        let departures = Departures()
        let options = try Self.settings().apiOptions(demo, tracer, departures)
        #expect(options.demo === demo)
        #expect(options.tracer === tracer)
        #expect(options.departures === departures)
    }

    @Test("Rendered products take three sixteenths of the memory for shelves")
    func renderedProducts() throws {
        let options = try Self.settings(["AISLE_SHELF_MEMORY": "16"]).apiOptions(nil, nil, Departures())
        let store = Store(key: CatalogKey("s")!, title: "S", currency: Currency("EUR")!)
        var products = RenderedProducts(store, day: 0, options.products)
        for number in 0..<600 {
            var product = Product(sku: SKU("p\(number)")!, name: "P")
            product.attributes = #"{"a":""# + String(repeating: "x", count: 8000) + #""}"#
            products.add(product)
        }
        #expect(options.products.use.evictions > 0)
        #expect((2 << 20...3 << 20).contains(options.products.use.size))
    }

    @Test("Event streams have the limit of the settings, and report to the observer of the server")
    func liveOptions() throws {
        let observed = Mutex<[FeedObservation]>([])
        let options = try Self.settings(["AISLE_STREAMS": "7"])
            .liveOptions(Observer { observation in observed.withLock { $0.append(observation) } })
        #expect(options.subscriptionLimit == 7)
        let observation = FeedObservation.feedUpdated(.shelf, delay: .seconds(2))
        options.observer.observe(observation)
        #expect(observed.withLock { $0 } == [observation])
        #expect(try Self.settings().liveOptions(.none).subscriptionLimit == 10_000)
    }
}
