"""OpenTelemetry's propagators and conventions, and a collector of spans (OTLP/HTTP 1, in JSON), on FastAPI."""

import base64
import json

from fastapi import FastAPI, Request, Response
from google.protobuf.json_format import MessageToDict, ParseDict
from opentelemetry import baggage, trace
from opentelemetry.propagate import extract
from opentelemetry.proto.collector.trace.v1 import trace_service_pb2
from opentelemetry.semconv import attributes as stable
from opentelemetry.semconv._incubating import attributes as incubating
from opentelemetry.semconv._incubating.metrics import http_metrics as incubating_metrics
from opentelemetry.semconv.metrics import http_metrics

app = FastAPI()
exports = trace_service_pb2.ExportTraceServiceRequest()


@app.get("/goods")
async def goods(request: Request):
    """The context that the request belongs to."""
    context = extract(dict(request.headers))
    span = trace.get_current_span(context).get_span_context()
    return {
        "traceID": f"{span.trace_id:032x}",
        "spanID": f"{span.span_id:016x}",
        "isSampled": span.trace_flags.sampled,
        "state": span.trace_state.to_header(),
        "baggage": baggage.get_all(context),
    }


def decoded_ids(value):
    """OTLP writes the ids in hexadecimal digits, and JSON of protocol buffers in base64."""
    if isinstance(value, list):
        return [decoded_ids(element) for element in value]
    if not isinstance(value, dict):
        return value
    ids = {"traceId", "spanId", "parentSpanId"}
    return {name: base64.b64encode(bytes.fromhex(member)).decode() if name in ids else decoded_ids(member)
            for name, member in value.items()}


@app.post("/v1/traces")
async def traces(request: Request):
    # Refuses members that the protocol does not have, and values of other types.
    exports.MergeFrom(ParseDict(decoded_ids(json.loads(await request.body())),
                                trace_service_pb2.ExportTraceServiceRequest()))
    return Response("{}", media_type="application/json")


@app.get("/spans")
async def spans():
    """The collected spans."""
    return [
        {
            "name": span.name,
            "kind": span.SpanKind.Name(span.kind),
            "spanID": span.span_id.hex(),
            "parentID": span.parent_span_id.hex(),
            "attributes": {item.key: str(next(iter(MessageToDict(item.value).values()))) for item in span.attributes},
            "events": [event.name for event in span.events],
            "isFailed": span.status.code == span.status.STATUS_CODE_ERROR,
            "nanoseconds": span.end_time_unix_nano - span.start_time_unix_nano,
        }
        for resource in exports.resource_spans for scope in resource.scope_spans for span in scope.spans
    ]


def constants(package, names):
    """The values of the constants of modules of the conventions."""
    modules = [__import__(f"{package.__name__}.{name}_attributes", fromlist=["_"]) for name in names]
    return sorted(value for module in modules for key, value in vars(module).items()
                  if key.isupper() and isinstance(value, str))


@app.get("/conventions")
async def conventions():
    """The names of the conventions."""
    return {
        "attributes": constants(stable, ["error", "http", "network", "server", "url"])
                      + constants(incubating, ["error", "http", "network", "server", "url"]),
        "metrics": sorted(value for module in (http_metrics, incubating_metrics)
                          for key, value in vars(module).items() if key.isupper() and isinstance(value, str)),
    }
