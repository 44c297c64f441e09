import { clientKeyOf, exchangeOf } from "../../../http/exchange.ts";
import { hubErrorBody } from "../../../http/response/hub-error.ts";
import { JsonStream } from "../../../http/response/response-body.ts";
import type { HubReply, HubRpc } from "../../../hub/rpc.ts";
import type { Result } from "../../../lib/result.ts";
import type { HubReads } from "../../../read/hub/hub-reads.ts";
import type { Page, RowFormat } from "../../../read/hub/page.ts";
import { GRPC_STATUS, type Refusal } from "../../../read/hub/refusal.ts";
import type { ListReader } from "../../../read/hub/turns.ts";
import type { ChargeKey } from "../../../writes/store/write-limits.ts";
import { operationsOf } from "../../op.ts";
import { HubError } from "./schemas.ts";

/** The dependencies of the operations under `/v1`. */
export interface HubDeps {
  readonly dialect?: undefined;
  readonly reads: HubReads;
  /** The hub's thread. */
  readonly hub: HubRpc;
  readonly chargeKey: ChargeKey;
}

/** The operations of a hub. Their ids start with `hub`. */
export const { op: hubOp, read: hubRead } = operationsOf<HubDeps>({
  surface: "hub",
  tag: "Hub",
  errors: ["unavailable"],
  errorResponse: HubError,
});

/**
 * The cache of a list over all fids. A partial list is not cached, because a header marks it and cached responses have no individual
 * headers.
 */
export const cacheOfAll = ({ reads }: HubDeps) => (reads.isPartial ? undefined : "shared");

/** Adds a header that marks a list over all fids as partial. */
export function markPartial(
  { isPartial }: Pick<HubReads, "isPartial">,
  { headers }: { readonly headers: Record<string, unknown> },
): void {
  if (isPartial) headers["x-partial"] = "fids";
}

/** What a handler returns: a JSON value, JSON in pieces, or the response of an error. */
export type Shown = object | JsonStream | Response;

/** The HTTP status of each gRPC status. Like on the reference node, a missing object is 400, not 404. */
const HTTP_STATUS: Readonly<Record<number, number>> = {
  3: 400,
  5: 400,
  8: 429,
  9: 400,
  11: 400,
  12: 501,
  4: 503,
  14: 503,
};

/** The code for an index at its limit, which is not the caller's fault. */
const FULL_CODE = "resource_exhausted";
const RETRY_AFTER_SECS = 30;

/** Returns the client that waits for the list of a request. */
export function listReaderOf(request: Request): ListReader {
  return { clientKey: clientKeyOf(exchangeOf(request)), signal: request.signal };
}

/** Returns the response of a gRPC error. */
export function errorResponse(errCode: string, code: number, details: string): Response {
  const status = errCode === FULL_CODE ? 503 : (HTTP_STATUS[code] ?? 500);
  const headers: Record<string, string> = { "cache-control": "no-store" };
  if (status === 503) headers["retry-after"] = String(RETRY_AFTER_SECS);
  return Response.json(hubErrorBody(errCode, code, details), { status, headers });
}

export function refusalResponse({ code, reason }: Refusal): Response {
  return errorResponse(code, GRPC_STATUS[code], reason);
}

/** Converts the value of a read, or the reason why it was refused. */
export function show<T>(result: Result<T, Refusal>, shown: (value: T) => Shown): Shown {
  return result.ok ? shown(result.value) : refusalResponse(result.error);
}

/** Converts the response of a method of the hub's thread, or its error. */
export function showReply(reply: HubReply, shown: (bytes: Uint8Array) => Shown): Shown {
  return reply.ok ? shown(reply.bytes) : errorResponse(reply.errCode, reply.code, reply.details);
}

/** Formats rows as JSON texts. The size of a page counts their bytes. */
export function jsonFormat<Row>(json: (row: Row) => unknown): RowFormat<Row, string> {
  return textFormat((row) => JSON.stringify(json(row)));
}

/** Formats rows with a function that returns their JSON text. */
export function textFormat<Row>(text: (row: Row) => string): RowFormat<Row, string> {
  return { show: text, bytesOf: (shown) => Buffer.byteLength(shown) + 1 };
}

/**
 * Returns a page as JSON. `nextPageToken` is also on the last page, where it is empty: clients read until then.
 *
 * @param fields further fields, as JSON text.
 */
export function pageStream(name: string, { items, nextToken }: Page<string>, fields = ""): JsonStream {
  const token = nextToken === undefined ? "" : Buffer.from(nextToken).toString("base64url");
  const text = `{${fields}${JSON.stringify(name)}:[${items.join(",")}],"nextPageToken":"${token}"}`;
  return new JsonStream([text].values());
}
