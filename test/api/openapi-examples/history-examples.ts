import type { OperationExample } from "../../../src/http/openapi/examples.ts";

const FROM = 1_790_000_000 - (1_790_000_000 % 60);
const TO = FROM + 300;
const node = "ndemo0000001";

/** The node of the other examples keeps no history. */
export const historyExamples: Readonly<Record<string, OperationExample>> = {
  getHistoryFigures: {
    query: { from: FROM, to: TO, step: "60", series: "requests_per_second" },
    responses: {
      200: {
        node,
        nodes: [],
        step: 60,
        t: [FROM, FROM + 60, FROM + 240],
        columns: { requests_per_second: [1.2, 0.8, 2.1] },
        gaps: [{ from: FROM + 120, to: FROM + 240, why: "stopped" }],
      },
    },
  },
  getHistoryLanes: {
    query: { from: FROM, to: TO, buckets: 5 },
    responses: {
      200: {
        node,
        from: FROM,
        bucket_secs: 60,
        buckets: 5,
        lanes: {
          events: { "cast.created": [3, 1, 0, 0, 2] },
          deliveries: { delivered: [3, 0, 0, 0, 2], retry: [0, 1, 0, 0, 0] },
          errors: {},
        },
        marks: [
          { at: FROM + 121, kind: "stop", detail: "" },
          { at: FROM + 235, kind: "start", detail: "0.1.0" },
        ],
        kept: { figures: FROM - 3600, log: null },
        watched_since: FROM - 3600,
        recorded_until: TO,
      },
    },
  },
  getHistorySince: {
    query: { at: FROM },
    responses: {
      200: {
        node,
        lines: [
          {
            key: "restarted",
            at: FROM + 235,
            args: { count: 1 },
            link: "/console/status?at=2026-09-21T14:13Z&w=1h",
          },
        ],
      },
    },
  },
};
