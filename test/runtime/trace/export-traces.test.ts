import { expect, test } from "bun:test";
import { systemClock } from "../../../src/runtime/clock.ts";
import { startTraces } from "../../../src/runtime/trace/export-traces.ts";
import { SpanCounts } from "../../../src/runtime/trace/span-counts.ts";
import { silentLog } from "../../support/log.ts";
import { startReceiver } from "../../support/receiver.ts";
import { configWith } from "../config.ts";

test.each([
  ["", "/v1/traces"],
  ["/", "/v1/traces"],
  ["/otlp/", "/otlp/v1/traces"],
  ["/otlp/v1/traces", "/otlp/v1/traces"],
  ["/otlp?tenant=a", "/otlp/v1/traces"],
])(
  "traces go to %j of a collector at %j, with the headers of the settings decoded",
  async (path, expected) => {
    await using collector = startReceiver();
    const counts = new SpanCounts();
    const spans = startTraces(
      {
        config: configWith(
          `trace.endpoint=http://127.0.0.1:${collector.port}${path}`,
          "trace.headers=api-key=a%3Db%2C=,authorization=Basic dXNlcg==,odd=%zz",
        ),
        log: silentLog,
        clock: systemClock,
      },
      counts.shared,
    );
    spans.start({ name: "work", kind: "internal" })?.end();
    await spans.stop(10_000);
    expect(counts.read()).toEqual({ exported: 1, refused: 0, dropped: 0 });
    const [request] = collector.requests;
    expect(request?.path).toBe(expected);
    expect(["api-key", "authorization", "odd"].map((name) => request?.headers.get(name))).toEqual([
      "a=b,=",
      "Basic dXNlcg==",
      "%zz",
    ]);
  },
);
