import { Type } from "@sinclair/typebox";
import { ApiError } from "../../../http/errors.ts";
import { flat } from "../../../http/limits/prices.ts";
import { choice, integer, optional, text, textList } from "../../../http/request/params.ts";
import { Count, nullable, object, UnixSecs } from "../../dialects/fields.ts";
import { topic } from "../../topic.ts";

const { op } = topic({ tag: "History", surface: "native" });

const MAX_UNIX_SECS = 99_999_999_999;
const MAX_SERIES = 64;
const MAX_BUCKETS = 240;
const DEFAULT_BUCKETS = 120;
/** Only for the client's own cache: another node of the same URL has a different history, and reads may need a key. */
const IMMUTABLE = "private, max-age=31536000, immutable";

const time = (description: string) => integer({ min: 0, max: MAX_UNIX_SECS, description });
const range = {
  from: time("Where the range begins, unix seconds"),
  to: time("Where it ends, unix seconds; not included"),
};

const Node = Type.String({ description: "The id of the node whose history this is" });
const Gap = object({
  from: UnixSecs("Begin"),
  to: UnixSecs("End"),
  why: Type.Union(
    ["stopped", "crashed", "not_watched", "not_kept", "no_figures"].map((why) => Type.Literal(why)),
    { description: "`not_watched`: before the node kept a history" },
  ),
});

const HistoryFigures = object(
  {
    node: Node,
    nodes: Type.Array(Type.String(), {
      description: "The nodes whose figures this one has: those of the last 90 days over one PostgreSQL",
    }),
    step: Type.Integer({ description: "The distance of rows, seconds" }),
    t: Type.Array(UnixSecs("Time of a row"), { maxItems: 2000 }),
    columns: Type.Record(
      Type.String(),
      Type.Array(nullable(Type.Number()), { description: "One value for each row, null for none" }),
    ),
    gaps: Type.Array(Gap, { description: "Times without figures" }),
  },
  { $id: "HistoryFigures" },
);

const HistoryLanes = object(
  {
    node: Node,
    from: UnixSecs("Begin of the first bucket"),
    bucket_secs: Type.Integer({ description: "Length of a bucket, seconds" }),
    buckets: Type.Integer({ description: "Number of buckets" }),
    lanes: Type.Record(Type.String(), Type.Record(Type.String(), Type.Array(Count)), {
      description:
        "By lane (`events`, `deliveries`, `errors`) and kind: how often it happened in each bucket",
    }),
    marks: Type.Array(
      object({
        at: UnixSecs("Time"),
        kind: Type.String({ description: "`start`, `stop`, `crash` or `release`" }),
        detail: Type.String(),
      }),
      { description: "What happened to the node, oldest first" },
    ),
    kept: object({
      figures: nullable(UnixSecs("The oldest figure")),
      log: nullable(UnixSecs("The oldest line of the log; null for all but the operator")),
    }),
    watched_since: nullable(UnixSecs("When the node began to keep a history")),
    recorded_until: UnixSecs("What happened later is not counted yet"),
  },
  { $id: "HistoryLanes" },
);

const HistorySince = object(
  {
    node: Node,
    lines: Type.Array(
      object({
        key: Type.String({ description: "What happened, such as `incident_resolved` or `quiet`" }),
        args: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number()])),
        link: Type.String({ description: "The moment on the status page" }),
        at: UnixSecs("Time"),
      }),
      { maxItems: 6, description: "The most important first" },
    ),
  },
  { $id: "HistorySince" },
);

const OFF = "this node keeps no history: history.enabled or console.enabled is off";

/** Reads of the node's stored history. The operator's routes offer the same with the private series and the log. */
export const historyOperations = [
  op({
    id: "getHistoryFigures",
    path: "/history/figures",
    price: flat(5),
    summary: "Figures of the node over time",
    description:
      "The figures of the status page: samples of 5 seconds for two days, minutes for 30 days, hours for two years. A range whose rows can no " +
      "longer change may be cached for ever. 404 while `history.enabled` is off.",
    query: {
      ...range,
      step: optional(
        choice(["auto", "5", "60", "3600"], {
          description:
            "The distance of rows, seconds. `auto`: the smallest that is kept and gives at most 2,000 rows",
        }),
        "auto",
      ),
      node: optional(
        text({
          maxChars: 128,
          description:
            "Another node over the same PostgreSQL, including one that has left: minutes of a day, hours of 90 days. Default: the one that responds",
        }),
      ),
      series: optional(
        textList({
          maxItems: MAX_SERIES,
          maxChars: 64,
          description:
            "Names of series, such as `requests_per_second`, with `.mean`, `.max` or `.min` for another value of a minute or an hour. Default: all",
        }),
      ),
    },
    response: HistoryFigures,
    errors: ["notFound", "unavailable"],
    async run({ history }, { query: { from, to, step, series, node }, set }) {
      if (!history) throw new ApiError("notFound", OFF);
      const { page, isClosed } = await history.figures({
        from,
        to,
        series,
        node,
        step: step === "auto" ? step : (Number(step) as 5 | 60 | 3600),
      });
      if (isClosed) set.headers["cache-control"] = IMMUTABLE;
      return page;
    },
  }),
  op({
    id: "getHistoryLanes",
    path: "/history/lanes",
    price: flat(5),
    summary: "What happened on the node over time",
    description:
      "Counts in buckets: events by kind, attempts of deliveries by outcome, responses with 5xx; and what happened to the node. 404 while " +
      "`history.enabled` is off.",
    query: {
      ...range,
      buckets: optional(
        integer({ min: 1, max: MAX_BUCKETS, description: "The most buckets that the response may have" }),
        DEFAULT_BUCKETS,
      ),
    },
    response: HistoryLanes,
    errors: ["notFound", "unavailable"],
    run({ history }, { query }) {
      if (!history) throw new ApiError("notFound", OFF);
      return history.lanes(query);
    },
  }),
  op({
    id: "getHistorySince",
    path: "/history/since",
    price: flat(5),
    summary: "What has happened since a time",
    description: "At most six lines, for a page that words them. 404 while `history.enabled` is off.",
    query: { at: time("Unix seconds") },
    response: HistorySince,
    errors: ["notFound", "unavailable"],
    run({ history }, { query: { at } }) {
      if (!history) throw new ApiError("notFound", OFF);
      return history.since(at);
    },
  }),
];
