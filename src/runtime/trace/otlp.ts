import type { Attributes, SpanKind } from "./span.ts";
import type { EndedSpan } from "./spans.ts";

/** Longer values are cut. */
const MAX_VALUE_CHARS = 256;

/** Of `opentelemetry.proto.trace.v1.Span.SpanKind`. */
const KINDS: Readonly<Record<SpanKind, number>> = { internal: 1, server: 2, client: 3 };
const STATUS_ERROR = 2;
/** Trace ids of links are those of callers; this bit says that the other trace was sampled. */
const SAMPLED = 1;

/** What all spans of a node have in common. */
export interface TraceResource {
  readonly serviceName: string;
  readonly version: string;
  readonly nodeId: string;
}

/** Encodes an `ExportTraceServiceRequest` in the JSON of OTLP 1, in which ids are hexadecimal and 64-bit numbers texts. */
export function encodeTraces(resource: TraceResource, spans: readonly EndedSpan[]): string {
  const { serviceName, version, nodeId } = resource;
  return JSON.stringify({
    resourceSpans: [
      {
        resource: {
          attributes: keyValues({
            "service.name": serviceName,
            "service.version": version,
            "service.instance.id": nodeId,
          }),
        },
        scopeSpans: [
          {
            scope: { name: serviceName, version },
            spans: spans.map((span) => encodeSpan(serviceName, span)),
          },
        ],
      },
    ],
  });
}

function encodeSpan(serviceName: string, span: EndedSpan): object {
  const { traceId, spanId, parentId, link, name, kind, startMs, endMs, attributes, failure } = span;
  const own = failure === undefined ? attributes : { ...attributes, "error.type": failure };
  return {
    traceId,
    spanId,
    parentSpanId: parentId,
    flags: SAMPLED,
    name: well(name),
    kind: KINDS[kind],
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: keyValues(own, serviceName),
    links: link && [{ traceId: link.traceId, spanId: link.spanId, flags: link.isSampled ? SAMPLED : 0 }],
    status: failure === undefined ? {} : { code: STATUS_ERROR },
  };
}

function keyValues(attributes: Attributes, serviceName = "svc"): object[] {
  const entries: object[] = [];
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined) continue;
    const key = name.startsWith("svc.") ? `${serviceName}${name.slice(3)}` : name;
    entries.push({ key, value: anyValue(value) });
  }
  return entries;
}

function anyValue(value: string | number | boolean): object {
  if (typeof value === "string") return { stringValue: well(value) };
  if (typeof value === "boolean") return { boolValue: value };
  return Number.isSafeInteger(value) ? { intValue: `${value}` } : { doubleValue: value };
}

/** Protobuf takes no half of a surrogate pair. */
function well(text: string): string {
  return text.slice(0, MAX_VALUE_CHARS).toWellFormed();
}

/** As decimal digits: a double cannot hold the nanoseconds since 1970. */
function nanos(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${Math.floor((ms - whole) * 1e6)
    .toString()
    .padStart(6, "0")}`;
}
