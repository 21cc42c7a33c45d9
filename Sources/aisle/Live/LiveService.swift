internal import Catalog
internal import Live
internal import CatalogJSON
internal import Glibc
internal import ServiceLifecycle

/// Serves subscribers until shutdown, then closes their streams first.
struct LiveService: Service {
    let live: LiveHub

    func run() async throws {
        await cancelWhenGracefulShutdown { await live.run() }
        live.close()
    }
}

/// Raises the limit of open descriptors to the system's maximum: the usual 1024 are fewer than the streams that it may
/// serve.
func raiseDescriptorLimit() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}
