internal import CatalogJSON
internal import Catalog
internal import Glibc
internal import ServiceLifecycle

/// Tells those who follow, until the server is asked to stop; then sends them away first.
struct LiveService: Service {
    let live: LiveHub

    func run() async throws {
        await cancelWhenGracefulShutdown { await live.run() }
        live.close()
    }
}

/// Lets the process have as many connections as the system permits: the usual 1024 are less than the streams that it may
/// serve.
func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
