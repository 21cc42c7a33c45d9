import Testing

@testable import LibPQ

/// The binary forms of parameters, as PostgreSQL's protocol defines them.
@Suite(.timeLimit(.minutes(15))) struct ParameterTests {
    /// The object ids are those of the catalog `pg_type`.
    @Test(
        "Each type has its object id and its bytes",
        arguments: [
            (.bool(true), 16, [1]), (.bool(false), 16, [0]), (.int2(-2), 21, [0xff, 0xfe]),
            (.int4(1), 23, [0, 0, 0, 1]), (.int8(258), 20, [0, 0, 0, 0, 0, 0, 1, 2]),
            (.float8(1), 701, [0x3f, 0xf0, 0, 0, 0, 0, 0, 0]), (.text("aż"), 25, [0x61, 0xc5, 0xbc]),
            (.bytea([0, 255]), 17, [0, 255]), (.numeric("-1.5"), 1700, [0x2d, 0x31, 0x2e, 0x35, 0]),
            (.jsonb("{}"), 3802, [1, 0x7b, 0x7d]),
            // The epoch is the start of the year 2000.
            (.date(10_957), 1082, [0, 0, 0, 0]), (.date(10_958), 1082, [0, 0, 0, 1]),
            (.timestamptz(946_684_800_000_000), 1184, [0, 0, 0, 0, 0, 0, 0, 0]),
            (.timestamptz(946_684_800_000_001), 1184, [0, 0, 0, 0, 0, 0, 0, 1]),
            (.date(.min), 1082, [0x80, 0, 0, 0]), (.timestamptz(.min), 1184, [0x80, 0, 0, 0, 0, 0, 0, 0]),
            (.textArray([]), 1009, [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 25]),
            (
                .textArray(["a", ""]), 1009,
                [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 25, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0x61, 0, 0, 0, 0]
            ),
            (
                .boolArray([true, false]), 1000,
                [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 16, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 0]
            ),
            (
                .int8Array([nil, 1]), 1016,
                [
                    0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 20, 0, 0, 0, 2, 0, 0, 0, 1, 255, 255, 255, 255, 0, 0, 0, 8, 0, 0,
                    0,
                    0, 0, 0, 0, 1,
                ]
            ),
            (
                .byteaArray([[7], nil]), 1001,
                [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 17, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 7, 255, 255, 255, 255]
            ),
        ] as [(PostgresValue, UInt32, [UInt8])]
    )
    func forms(_ value: PostgresValue, _ oid: UInt32, _ expected: [UInt8]) {
        var bytes: [UInt8] = []
        let isPresent = value.encode(into: &bytes)
        #expect(isPresent)
        #expect(bytes == expected)
        #expect(value.oid == oid)
    }

    @Test(
        "NULL has a type and no bytes",
        arguments: [
            .bool(nil), .int2(nil), .int4(nil), .int8(nil), .float8(nil), .text(nil), .bytea(nil), .numeric(nil),
            .jsonb(nil), .timestamptz(nil), .date(nil),
        ] as [PostgresValue]
    )
    func nulls(_ value: PostgresValue) {
        var bytes: [UInt8] = []
        let isPresent = value.encode(into: &bytes)
        #expect(!isPresent && bytes.isEmpty)
        #expect(value.oid != 0)
    }

    @Test("Parameters have addresses, lengths and formats; only NULL has no address")
    func buffers() {
        let buffers = ParameterBuffers([.int4(1), .text(nil), .text(""), .numeric("7"), .bool(true)])
        #expect(buffers.oids == [23, 25, 25, 1700, 16])
        #expect(!buffers.isTooLarge)
        buffers.withPointers { count, values, lengths, formats in
            #expect(count == 5)
            guard let values, let lengths, let formats else {
                Issue.record("the parameters have no addresses")
                return
            }
            let found = (0..<5).map { (lengths[$0], formats[$0], values[$0] == nil) }
            #expect(found.map(\.0) == [4, 0, 0, 2, 1])
            #expect(found.map(\.1) == [1, 1, 1, 0, 1])
            #expect(found.map(\.2) == [false, true, false, false, false])
            #expect((0..<4).map { values[0]![$0] } == [0, 0, 0, 1])
            #expect(String(cString: values[3]!) == "7")
            #expect(values[4]![0] == 1)
        }
    }

    @Test("A difference beyond the limits is a limit")
    func saturation() {
        #expect(Int8(-100).saturatingSubtract(100) == .min)
        #expect(Int8(100).saturatingSubtract(-100) == .max)
        #expect(Int8(100).saturatingSubtract(100) == 0)
        #expect(Int8(-28).saturatingSubtract(100) == .min)
    }
}
