import type { LogLevel } from "../../history/log-blocks.ts";
import type { LanesQuery } from "../../history/rpc.ts";
import {
  badRequest,
  choice,
  decodeQuery,
  integer,
  optional,
  text,
  textList,
} from "../../http/request/params.ts";
import type { RawQuery } from "../../http/request/query-string.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { unwrapHistory } from "./history-reads.ts";
import type { FiguresRequest, HistoryQueries } from "./queries.ts";

export const MAX_UNIX_SECS = 99_999_999_999;
const MAX_SERIES = 64;
const MAX_BUCKETS = 240;
const MAX_WORDS = 10;
const PAGE_LINES = 200;

const time = () => integer({ min: 0, max: MAX_UNIX_SECS });
const range = { from: time(), to: time() };
const figuresParams = {
  ...range,
  step: optional(choice(["auto", "5", "60", "3600"]), "auto"),
  series: optional(textList({ maxItems: MAX_SERIES, maxChars: 64 })),
  node: optional(text({ maxChars: 128 })),
};
const lanesParams = { ...range, buckets: optional(integer({ min: 1, max: MAX_BUCKETS }), MAX_BUCKETS) };
const searchParams = {
  from: optional(time(), 0),
  to: optional(time(), MAX_UNIX_SECS),
  level: optional(choice(["info", "warn", "error"]), "info" satisfies LogLevel),
  q: optional(text({ maxChars: 200 })),
  cursor: optional(integer({ min: 1, max: Number.MAX_SAFE_INTEGER })),
};

/** Reads the query of `/console/op/history/figures`. */
export function figuresRequestOf(query: RawQuery): FiguresRequest {
  const { from, to, step, series, node } = decodeQuery(figuresParams, query);
  return { from, to, series, node, step: step === "auto" ? step : (Number(step) as 5 | 60 | 3600) };
}

/** Reads the query of `/console/op/history/lanes`. */
export function lanesQueryOf(query: RawQuery): LanesQuery {
  return decodeQuery(lanesParams, query);
}

/** Reports whether a query of `/console/op/log` searches the stored log, instead of reading new lines. */
export function isLogSearch(query: RawQuery): boolean {
  return Object.keys(searchParams).some((name) => Object.hasOwn(query, name));
}

/** Searches the stored log, newest lines first. A search that takes too long ends early, with a cursor. */
export async function searchLog(node: Pick<RpcClient<HistoryQueries>, "historyLog">, query: RawQuery) {
  const { from, to, level, q = "", cursor } = decodeQuery(searchParams, query);
  const words = q.split(/\s+/).filter((word) => word !== "");
  if (words.length > MAX_WORDS) throw badRequest(`q must have at most ${MAX_WORDS} words`);
  const search = { fromMs: from * 1000, toMs: to * 1000, level, words, limit: PAGE_LINES };
  const before = cursor ?? Number.MAX_SAFE_INTEGER;
  const page = unwrapHistory(await node.historyLog({ ...search, before }));
  return {
    lines: page.lines.map(({ id, atMs, ...line }) => ({
      seq: id,
      at: new Date(atMs).toISOString(),
      ...line,
    })),
    cursor: page.before,
    partial: page.isPartial,
  };
}

/** Returns the failed and the slowest requests of a time range, newest first. */
export async function readRequests(
  node: Pick<RpcClient<HistoryQueries>, "historyRequests">,
  query: RawQuery,
) {
  const requests = unwrapHistory(await node.historyRequests(decodeQuery(range, query)));
  return {
    requests: requests.map(({ atMs, requestId, keyPrefix, ...request }) => ({
      at: new Date(atMs).toISOString(),
      ...request,
      request_id: requestId,
      key_prefix: keyPrefix,
    })),
  };
}
