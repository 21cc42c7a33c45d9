import Catalog
import JSON
import Testing

@testable import CatalogImport

/// The files of rejected rows, byte by byte.
@Suite struct RejectedRowTests {
    private func rejection(
        _ row: String?,
        column: String? = "price",
        value: String? = "x,y",
        isVariant: Bool = false
    ) -> ImportRejection {
        var rejection = ImportRejection(line: 7, column: column, value: value, reason: "is \"wrong\"")
        rejection.keep(row: row, header: nil, separator: nil)
        rejection.isCompleteVariant = isVariant
        return rejection
    }

    @Test("The header has the columns with the reasons, and blank lines above it if its line was set")
    func header() {
        let reasons = "rejected_line,rejected_column,rejected_value,rejected_reason"
        #expect(RejectedRow.header("sku,name", .comma, line: nil) == "\(reasons),sku,name\n")
        #expect(RejectedRow.header("sku,name", .comma, line: 1) == "\(reasons),sku,name\n")
        #expect(RejectedRow.header("sku,name", .comma, line: 3) == "\n\n\(reasons),sku,name\n")
        #expect(
            RejectedRow.header("sku;name", .semicolon, line: nil, hasVariants: true)
                == "\(reasons.replacing(",", with: ";"));rejected_variant;sku;name\n"
        )
        #expect(
            RejectedRow.columns
                == ["rejected_line", "rejected_column", "rejected_value", "rejected_reason", "rejected_variant"]
        )
    }

    @Test("A row of CSV follows its reasons")
    func csv() {
        #expect(
            RejectedRow.line(rejection("a,b"), .csv, .comma) == "7,price,\"x,y\",\"is \"\"wrong\"\"\",a,b\n"
        )
        #expect(
            RejectedRow.line(rejection("a|b"), .csv, .pipe, hasVariants: true)
                == "7|price|x,y|\"is \"\"wrong\"\"\"||a|b\n"
        )
        #expect(
            RejectedRow.line(rejection("a,b", isVariant: true), .csv, .comma, hasVariants: true)
                == "7,price,\"x,y\",\"is \"\"wrong\"\"\",complete,a,b\n"
        )
        #expect(
            RejectedRow.line(rejection("a,b", isVariant: true), .csv, .comma)
                == "7,price,\"x,y\",\"is \"\"wrong\"\"\",a,b\n"
        )
        #expect(
            RejectedRow.line(rejection("a,b"), .csv, .comma, isQuoted: false) == "7,price,x y,is \"wrong\",a,b\n"
        )
        #expect(
            RejectedRow.line(rejection(nil, column: nil, value: nil), .csv, .comma) == "7,,,\"is \"\"wrong\"\"\",\n"
        )
    }

    @Test("A file without quotes has spaces in place of separators and line breaks")
    func unquotedFields() {
        #expect(CSVReader.unquotedField("a;b,c\nd\re", .semicolon) == "a b,c d e")
        #expect(CSVReader.unquotedField("a;b,c\td", .tab) == "a;b,c d")
    }

    @Test("A record of XML begins with its reasons, without those that are empty")
    func xml() {
        let row = "<item id=\"1\"><sku>a</sku></item>"
        #expect(
            RejectedRow.line(rejection(row, value: "a<b&c>"), .xml, .comma) == """
                <item id="1"><rejected_line>7</rejected_line><rejected_column>price</rejected_column>\
                <rejected_value>a&lt;b&amp;c&gt;</rejected_value><rejected_reason>is "wrong"</rejected_reason>\
                <sku>a</sku></item>

                """
        )
        #expect(
            RejectedRow.line(rejection(nil, column: nil, value: nil, isVariant: true), .xml, .comma) == """
                <item><rejected_line>7</rejected_line><rejected_reason>is "wrong"</rejected_reason>\
                <rejected_variant>complete</rejected_variant></item>

                """
        )
        #expect(
            RejectedRow.xmlFrame == ("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<rejected>\n", "</rejected>\n")
        )
    }

    @Test("An object of JSON begins with its reasons; another line stays as it is")
    func ndjson() {
        #expect(
            RejectedRow.line(rejection(" {  \"sku\":\"a\"} "), .ndjson, .comma) == """
                {"rejected_line":7,"rejected_column":"price","rejected_value":"x,y","rejected_reason":"is \\"wrong\\"",\
                "sku":"a"}

                """
        )
        #expect(
            RejectedRow.line(rejection("{\n}", column: nil, value: nil), .ndjson, .comma) == """
                {"rejected_line":7,"rejected_column":null,"rejected_value":null,"rejected_reason":"is \\"wrong\\""}

                """
        )
        #expect(
            RejectedRow.line(rejection("{\"a\":1}", isVariant: true), .ndjson, .comma) == """
                {"rejected_line":7,"rejected_column":"price","rejected_value":"x,y","rejected_reason":"is \\"wrong\\"",\
                "rejected_variant":"complete","a":1}

                """
        )
        #expect(RejectedRow.line(rejection("[1,\n2]"), .ndjson, .comma) == "[1, 2]\n")
        #expect(RejectedRow.line(rejection(nil), .ndjson, .comma) == "\n")
    }

    @Test("The row of a variant gets the texts that it lacks, and keeps its own")
    func filledObjects() {
        func row(_ text: String, _ texts: [(name: String, text: String)]) -> String {
            RejectedRow.row(Array(text.utf8), filling: texts)
        }
        let texts = [(name: "brand", text: "Olympia"), (name: "Shelf", text: "Tea")]
        #expect(row(#"{ "sku" : 1 }"#, []) == #"{ "sku" : 1 }"#)
        #expect(row(#"{ "sku" : 1 }"#, texts) == #"{"sku":1,"brand":"Olympia","Shelf":"Tea"}"#)
        #expect(row(#"{"Brand":"X","shelf":" "}"#, texts) == #"{"Brand":"X","Shelf":"Tea"}"#)
        #expect(row(#"{"brand":null,"shelf":false}"#, texts) == #"{"shelf":false,"brand":"Olympia"}"#)
        #expect(row("[1]", texts) == "[1]")
        let replaced = RejectedRow.row(Array(#"{"Brand":"X","shelf":"Y"}"#.utf8), filling: texts, replacing: "brand")
        #expect(replaced == #"{"shelf":"Y","brand":"Olympia"}"#)
        #expect(row("{", texts) == "{")
    }

    @Test("The reasons are removed before a row is read again")
    func removesReasons() throws {
        func removed(_ text: String) throws -> String {
            RejectedRow.removingReasons(try JSONReader.parse(Array(text.utf8))).text
        }
        #expect(
            try removed(
                #"{"rejected_line":1,"a":2,"rejected_column":3,"rejected_value":4,"rejected_reason":5,"rejected_variant":6}"#
            ) == #"{"a":2}"#
        )
        #expect(try removed(#"{"rejected":1,"a":2}"#) == #"{"rejected":1,"a":2}"#)
        #expect(try removed("[1]") == "[1]")
    }

    @Test("Only the mark of a complete variant says that a row needs no other row")
    func completeVariants() throws {
        for (text, expected) in [
            (#"{"rejected_variant":"complete"}"#, true), (#"{"a":1,"rejected_variant":"complete"}"#, true),
            (#"{"rejected_variant":""}"#, false), (#"{"rejected_variant":true}"#, false), (#"{"a":"complete"}"#, false),
            (#"["complete"]"#, false),
        ] {
            #expect(RejectedRow.isCompleteVariant(try JSONReader.parse(Array(text.utf8))) == expected, "\(text)")
        }
    }

    @Test("A record of XML gets the texts that it lacks under names that elements can have")
    func filledRecords() {
        var record = FieldRecord(line: 3)
        record.add("g:brand", "Own")
        record.add("size", " ")
        let filled = record.filling([
            (name: "brand", text: "Other"), (name: "size", text: "500 g"), (name: "Product Type", text: "Tea & more"),
            (name: "1st", text: "x"), (name: "a<b", text: "y"), (name: "c.d-e_2", text: "z"),
        ])
        #expect(
            filled.xml(named: "entry") == """
                <entry><g:brand>Own</g:brand><size>500 g</size><Product_Type>Tea &amp; more</Product_Type>\
                <c.d-e_2>z</c.d-e_2></entry>
                """
        )
        #expect(filled.line == 3)
    }
}
