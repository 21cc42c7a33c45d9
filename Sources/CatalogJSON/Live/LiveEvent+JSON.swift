internal import JSON
package import Catalog

extension LiveEvent {
    package static func start(_ revision: Int64) -> LiveEvent {
        LiveEvent(.start, id: revision, data: JSONWriter.object { $0.field("revision", revision) })
    }

    package static func gap(_ revision: Int64) -> LiveEvent {
        var json = JSONWriter(reserving: 64)
        json.object { json in
            json.field("revision", revision)
            json.field("resync", true)
        }
        return LiveEvent(.gap, id: revision, data: json.bytes)
    }

    package static func gone(_ version: Int64) -> LiveEvent { LiveEvent(.gone, id: version, data: Array("{}".utf8)) }
}
