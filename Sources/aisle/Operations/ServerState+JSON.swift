internal import JSON
internal import Catalog
internal import CatalogJSON
internal import CatalogPostgres
internal import Live

extension ServerState {
    /// The names of the lists of servers that answer reads, by the kind of the servers.
    private static let readServerLists: [(StaticString, ReadServerStatus.Kind)] = [
        ("replicas", .replica), ("workers", .worker),
    ]

    /// Returns the state as JSON, for `aisle status`.
    func json(startedAt: Timestamp, now: Timestamp = .now()) -> [UInt8] {
        JSONWriter.object { json in
            json.field("version", Aisle.version)
            json.field("started_at", startedAt.rfc3339)
            json.field("uptime_seconds", (now.microseconds - startedAt.microseconds) / 1_000_000)
            json.object("ready") { json in
                json.field("reads", isReady(for: .reads))
                json.field("writes", isReady(for: .writes))
            }
            json.field("draining", isDraining)
            json.object("last_minute") { json in
                json.field("requests", requests.count)
                json.field("errors", requests.errors)
                json.field("rate_limited", requests.rateLimited)
                if let median = requests.median { json.field("p50_ms", median / .milliseconds(1)) }
                if let percentile = requests.percentile99 { json.field("p99_ms", percentile / .milliseconds(1)) }
            }
            json.field("connections", connections)
            json.array("lanes", lanes) { json, lane in
                json.object { json in
                    json.field("lane", lane.lane)
                    json.field("limit", lane.limit)
                    json.field("open", lane.open)
                    if let inUse = lane.inUse { json.field("in_use", inUse) }
                    json.field("waiting", lane.waiting)
                }
            }
            json.object("shelf_memory") { json in
                json.field("limit_bytes", shelves.limit)
                json.field("bytes", shelves.bytes)
                json.field("shelves", shelves.shelves.count)
                json.field("evicted", shelves.shelves.evictions)
            }
            for (list, kind) in Self.readServerLists {
                json.array(list, readServers.filter { $0.kind == kind }) { json, server in
                    json.object { json in
                        json.field(name: kind.rawValue, server.name)
                        json.field("usable", server.isUsable)
                        json.field("problem", server.problem)
                        if let lag = server.lag { json.field("lag_seconds", lag / .seconds(1)) }
                        json.field("reads", server.reads)
                    }
                }
            }
            json.array("streams", streams) { json, use in
                json.object { json in
                    json.field("kind", use.kind.rawValue)
                    json.field("open", use.subscriptions)
                }
            }
            if let resort {
                json.object("resort") { json in
                    json.field("last_success_at", resort.lastSuccess?.endedAt?.rfc3339)
                    json.field("running", resort.runningCount)
                    json.field("failed", resort.hasFailed)
                }
            }
            json.object("process") { json in
                json.field("resident_bytes", process.residentBytes)
                json.field("cpu_seconds", process.processorSeconds)
                json.field("open_descriptors", process.openDescriptors)
                json.field("descriptor_limit", process.descriptorLimit)
            }
            json.field("dropped_log_lines", droppedLogLines)
        }
    }
}
