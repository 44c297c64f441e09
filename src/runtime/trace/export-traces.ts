import { createOperatorFetch } from "../../net/operator-fetch.ts";
import { version } from "../../version.ts";
import { setTimer } from "../clock.ts";
import type { Common } from "../common.ts";
import { startTraceExporter } from "./exporter.ts";
import type { Spans } from "./span.ts";
import { SpanCounts } from "./span-counts.ts";
import { createSpans } from "./spans.ts";

/** The OTLP/HTTP path for traces. */
const TRACES_PATH = "/v1/traces";

/**
 * Starts exporting the traces of a thread, with `config.node.id` as the node.
 * @param counts those of `SpanCounts`, which all threads share
 */
export function startTraces(
  { config, log, clock }: Pick<Common, "config" | "log" | "clock">,
  counts: SharedArrayBuffer,
): Spans {
  const { endpoint, headers, sample_ratio: ratio } = config.trace;
  const url = new URL(endpoint);
  if (!url.pathname.endsWith(TRACES_PATH)) url.pathname = `${url.pathname.replace(/\/+$/, "")}${TRACES_PATH}`;
  const exporter = startTraceExporter({
    url: url.href,
    headers: parseHeaders(headers),
    resource: { serviceName: config.service.name, version, nodeId: config.node.id },
    callCollector: createOperatorFetch(endpoint),
    counts: new SpanCounts(counts),
    clock,
    setTimer,
    log: log.child({ subsystem: "trace" }),
  });
  return createSpans({
    ratio,
    onEnd: (span) => exporter.add(span),
    stop: (graceMs) => exporter.stop(graceMs),
    clock,
    monotonicMs: () => performance.now(),
    random: Math.random,
  });
}

/** Parses `name=value,name=value`; OpenTelemetry percent-encodes the values. */
function parseHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair !== "");
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf("=");
      return [pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())];
    }),
  );
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
