extension CatalogAPI {
    package struct Options: Sendable {
        /// Origins whose pages may call.
        package var origins: [String] = []
        /// The most bytes of a body, but for imports.
        package var bodyLimit = 1 << 20
        /// How long a body may take to arrive.
        package var bodyTimeout: Duration = .seconds(20)

        /// How many imports may be under way; others are told to try again.
        package var importsAtOnce = 4
        /// How long an import may take in all.
        package var importTimeout: Duration = .seconds(1800)
        /// How fast the body of an import has to arrive.
        package var importPace = ImportPace()
        /// How many bodies beyond the usual limit may be under way; others are told to try again.
        package var largeBodiesAtOnce = 4
        /// The most bytes of rendered pages that are remembered; 0 for none.
        package var pageCacheLimit = 32 << 20
        /// What is open to everybody on this machine; nil for a server that is no demonstration.
        package var demo: Demo?
        /// Whether the server was asked to stop, and still serves those who know it.
        package var isDraining: @Sendable () -> Bool = { false }

        package init() {}
    }
}
