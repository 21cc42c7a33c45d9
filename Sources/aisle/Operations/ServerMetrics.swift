internal import Telemetry

/// The metrics of a server. Their names, kinds and labels are declared here only.
enum ServerMetrics {
    // MARK: - Requests

    static let requests = MetricDefinition(
        "aisle_http_requests_total",
        .counter,
        labels: ["endpoint", "method", "status"],
        "Completed requests."
    )
    static let requestDuration = MetricDefinition(
        "aisle_http_request_duration_seconds",
        .requestSeconds,
        labels: ["endpoint", "method"],
        "The time from the arrival of a request until its response is ready to be sent."
    )
    static let responseBytes = MetricDefinition(
        "aisle_http_response_bytes_total",
        .counter,
        labels: ["endpoint"],
        "The lengths of the bodies of responses, without streams."
    )
    static let requestsInFlight = MetricDefinition(
        "aisle_http_requests_in_flight",
        .gauge,
        "Requests whose response is not ready."
    )
    static let pages = MetricDefinition(
        "aisle_pages_total",
        .counter,
        labels: ["result"],
        "Pages that were returned: from the cache, rendered, or not modified since the client read them."
    )
    static let rateLimited = MetricDefinition(
        "aisle_rate_limited_requests_total",
        .counter,
        labels: ["endpoint"],
        "Requests that were rejected, because their client had used up its quota."
    )
    static let connections = MetricDefinition("aisle_http_connections", .gauge, "Open connections of clients.")
    static let connectionsRejected = MetricDefinition(
        "aisle_http_connections_rejected_total",
        .counter,
        "Connections that were rejected, because their client had too many."
    )
    static let faults = MetricDefinition(
        "aisle_faults_total",
        .counter,
        labels: ["source"],
        "Internal errors of requests and background tasks."
    )

    // MARK: - Database

    static let laneConnections = MetricDefinition(
        "aisle_lane_connections",
        .gauge,
        labels: ["lane", "state"],
        "Connections to PostgreSQL by kind of work: the limit, the open ones, and the ones in use."
    )
    static let laneWaiting = MetricDefinition(
        "aisle_lane_waiting",
        .gauge,
        labels: ["lane"],
        "Callers that wait for a connection; for pages, reads in flight."
    )
    static let laneWait = MetricDefinition(
        "aisle_lane_wait_seconds",
        .waitSeconds,
        labels: ["lane"],
        "The time that callers waited for a connection."
    )
    static let databaseErrors = MetricDefinition(
        "aisle_postgres_errors_total",
        .counter,
        labels: ["class"],
        "Failed database operations, by class of SQLSTATE, or by kind of an error without one."
    )
    static let validationGaps = MetricDefinition(
        "aisle_validation_gaps_total",
        .counter,
        "Values that passed validation and were rejected by the database."
    )
    static let databaseReady = MetricDefinition(
        "aisle_database_ready",
        .gauge,
        labels: ["for"],
        "Whether the database serves reads and writes, probed at each scrape."
    )

    // MARK: - Shelves in memory

    static let shelves = MetricDefinition("aisle_shelves_in_memory", .gauge, "Shelves in memory.")
    static let shelfMemory = MetricDefinition(
        "aisle_shelf_memory_bytes",
        .gauge,
        labels: ["kind"],
        "The size in memory of shelves, unions of shelves, views, facets, columns of attributes and groups, search indexes and rendered products."
    )
    static let shelfMemoryLimit = MetricDefinition(
        "aisle_shelf_memory_limit_bytes",
        .gauge,
        "The limit of all kinds together (AISLE_SHELF_MEMORY); one shelf, one union, one index and one column may be larger."
    )
    static let shelfHits = MetricDefinition(
        "aisle_shelf_hits_total",
        .counter,
        "Reads that found their shelf in memory at the version that they needed."
    )
    static let shelfReads = MetricDefinition(
        "aisle_shelf_read_seconds",
        .waitSeconds,
        labels: ["kind"],
        "The time of reading a shelf into memory, with the wait for a connection: whole, from its image, or only its changes."
    )
    static let shelfImages = MetricDefinition(
        "aisle_shelf_images_written_total",
        .counter,
        "Images of shelves that this server stored, from which shelves are read into memory."
    )
    static let shelfEvictions = MetricDefinition(
        "aisle_shelf_evictions_total",
        .counter,
        labels: ["kind"],
        "Shelves, unions, views, facets, columns of attributes and groups, search indexes and rendered products that left the memory for others."
    )

    // MARK: - Replicas

    static let replicaLag = MetricDefinition(
        "aisle_replica_lag_seconds",
        .gauge,
        labels: ["replica"],
        "How far a replica is behind the primary; the last known value."
    )
    static let replicaUsable = MetricDefinition(
        "aisle_replica_usable",
        .gauge,
        labels: ["replica"],
        "Whether a replica is used for reads."
    )
    static let replicaReads = MetricDefinition(
        "aisle_replica_reads_total",
        .counter,
        labels: ["replica"],
        "Reads that were sent to a replica."
    )
    static let replicaFallbacks = MetricDefinition(
        "aisle_replica_fallbacks_total",
        .counter,
        labels: ["replica"],
        "Reads that a replica could not answer, and that were repeated on the primary."
    )
    static let workerUsable = MetricDefinition(
        "aisle_worker_usable",
        .gauge,
        labels: ["worker"],
        "Whether pages are read from a worker of a Citus cluster."
    )
    static let workerReads = MetricDefinition(
        "aisle_worker_reads_total",
        .counter,
        labels: ["worker"],
        "Reads that a worker of a Citus cluster has answered."
    )
    static let workerFallbacks = MetricDefinition(
        "aisle_worker_fallbacks_total",
        .counter,
        labels: ["worker"],
        "Reads that a worker could not answer, and that were retried through the coordinator."
    )

    // MARK: - Live events

    static let streams = MetricDefinition("aisle_streams", .gauge, labels: ["kind"], "Open event streams.")
    static let feeds = MetricDefinition(
        "aisle_feeds",
        .gauge,
        labels: ["kind"],
        "Shelves and users that are read for event streams."
    )
    static let eventsSent = MetricDefinition(
        "aisle_events_sent_total",
        .counter,
        labels: ["kind"],
        "Events that were sent to streams."
    )
    static let eventDelay = MetricDefinition(
        "aisle_event_delay_seconds",
        .waitSeconds,
        labels: ["kind"],
        "The time from the notice of a change until its events were ready to be sent."
    )

    // MARK: - Batch work

    static let imports = MetricDefinition(
        "aisle_imports_total",
        .counter,
        labels: ["outcome"],
        "Imports through this server."
    )
    static let importRows = MetricDefinition(
        "aisle_import_rows_total",
        .counter,
        labels: ["result"],
        "Rows of imports through this server."
    )
    static let importDuration = MetricDefinition(
        "aisle_import_duration_seconds",
        .batchSeconds,
        "The durations of imports through this server."
    )
    static let foldedPurchases = MetricDefinition(
        "aisle_folded_purchases_total",
        .counter,
        "Purchases that this server folded into counts per day."
    )
    static let foldDuration = MetricDefinition(
        "aisle_fold_duration_seconds",
        .batchSeconds,
        "The durations of this server's folds."
    )
    static let lastFold = MetricDefinition(
        "aisle_fold_last_success_timestamp_seconds",
        .gauge,
        "The time of this server's last successful fold, in seconds since 1970."
    )
    static let lastResort = MetricDefinition(
        "aisle_resort_last_success_timestamp_seconds",
        .gauge,
        "The end of the last successful re-sort by any process, in seconds since 1970; 0 if none is recorded."
    )
    static let lastResortDuration = MetricDefinition(
        "aisle_resort_last_duration_seconds",
        .gauge,
        "The duration of the last successful re-sort."
    )
    static let lastResortChanges = MetricDefinition(
        "aisle_resort_last_changes",
        .gauge,
        labels: ["kind"],
        "The counts of the last successful re-sort: events, products, shelves, changed shelves and moved products."
    )
    static let resortRunning = MetricDefinition("aisle_resort_running", .gauge, "Re-sorts in progress.")
    static let resortFailed = MetricDefinition(
        "aisle_resort_failed",
        .gauge,
        "Whether the last ended re-sort failed or was interrupted."
    )

    // MARK: - Process

    static let processorSeconds = MetricDefinition(
        "process_cpu_seconds_total",
        .counter,
        "The processor time of the process, in seconds."
    )
    static let residentMemory = MetricDefinition(
        "process_resident_memory_bytes",
        .gauge,
        "The resident memory of the process."
    )
    static let virtualMemory = MetricDefinition(
        "process_virtual_memory_bytes",
        .gauge,
        "The virtual memory of the process."
    )
    static let openDescriptors = MetricDefinition("process_open_fds", .gauge, "Open file descriptors.")
    static let descriptorLimit = MetricDefinition("process_max_fds", .gauge, "The maximum number of file descriptors.")
    static let startTime = MetricDefinition(
        "process_start_time_seconds",
        .gauge,
        "The start of the process, in seconds since 1970."
    )
    static let eventLoopDelay = MetricDefinition(
        "aisle_event_loop_delay_seconds",
        .waitSeconds,
        "How late an event loop runs a task that is due."
    )
    static let logLinesDropped = MetricDefinition(
        "aisle_log_lines_dropped_total",
        .counter,
        "Log lines that were dropped, because the log's reader was too slow."
    )
    static let spansExported = MetricDefinition(
        "aisle_trace_spans_exported_total",
        .counter,
        "Spans that the collector accepted."
    )
    static let spansDropped = MetricDefinition(
        "aisle_trace_spans_dropped_total",
        .counter,
        "Spans that were dropped, because the collector was too slow, unreachable or refused them."
    )
    static let build = MetricDefinition(
        "aisle_build_info",
        .gauge,
        labels: ["version", "build_id"],
        "The version of the program; always 1."
    )

    static let all = [
        requests, requestDuration, responseBytes, requestsInFlight, pages, rateLimited, connections,
        connectionsRejected, faults, laneConnections, laneWaiting, laneWait, databaseErrors, validationGaps,
        databaseReady, shelves, shelfMemory, shelfMemoryLimit, shelfHits, shelfReads, shelfImages, shelfEvictions,
        replicaLag,
        replicaUsable, replicaReads, replicaFallbacks, workerUsable,
        workerReads, workerFallbacks, streams, feeds, eventsSent,
        eventDelay, imports, importRows, importDuration, foldedPurchases, foldDuration, lastFold, lastResort,
        lastResortDuration, lastResortChanges, resortRunning, resortFailed, processorSeconds, residentMemory,
        virtualMemory, openDescriptors, descriptorLimit, startTime, eventLoopDelay, logLinesDropped, spansExported,
        spansDropped, build,
    ]
}
