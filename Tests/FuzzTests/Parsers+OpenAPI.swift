import RxSimulation

extension Parser {
    static let openAPI: [Parser] = [
        Parser(
            "OpenAPI document",
            [
                """
                {"openapi": "3.1.0", "servers": [{"url": "{s}://a.test/v1/", "variables": {"s": {"default": "https"}}}],
                "paths": {"/goods/{id}": {"get": {"responses": {"404": {"$ref": "#/components/responses/No~1ne"},
                "2XX": {"headers": {"X-Rate": {"schema": {"example": 10}}}, "content": {"application/json": {"examples": {
                "tea": {"$ref": "#/components/examples/Tea"}, "null": {"value": null}}}}}}},
                "additionalOperations": {"COPY": {"responses": {"default": {"content": {"text/*": {"example": "é"}}}}}}},
                "/goods/new": {"$ref": "#/paths/~1goods~1%7Bid%7D"}}, "components": {
                "responses": {"No/ne": {"description": ""}}, "examples": {"Tea": {"value": {"name": "\\u00e9"}}}}}
                """,
                ##"{"openapi": "3.0.0", "paths": {"/a": {"$ref": "#/paths/~1b"}, "/b": {"$ref": "#/paths/~1a"}}}"##,
            ]
        ) { bytes in
            do throws(FixtureError) {
                let rules = try OpenAPIDocument(bytes: bytes).rules()
                return "\(rules.count) rules"
            } catch {
                try demand(error.line != nil && error.column != nil, "an error without a place: \(error)")
                return "\(error)"
            }
        }
    ]
}
