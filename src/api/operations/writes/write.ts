import { createHash } from "node:crypto";
import { ApiError, type ErrorName, errorKinds } from "../../../http/errors.ts";
import { type Exchange, exchangeOf, keyCallerOf } from "../../../http/exchange.ts";
import { rawBody } from "../../../http/request/body.ts";
import type { MessageOutcome, WriteRefusal } from "../../../writes/outcome.ts";
import type { WriteCall, WriteLimit } from "../../../writes/rpc.ts";
import type { ChargeKey } from "../../../writes/store/write-limits.ts";
import type { WriteStore } from "../../../writes/store/write-store.ts";
import type { ApiDeps } from "../../deps.ts";
import type { Call } from "../../op.ts";

const FURTHER_MESSAGE_UNITS = 2;

/**
 * Charges a write for its messages after the first, for which the edge has charged.
 *
 * @throws ApiError `tooManyRequests`
 */
export function chargeFurtherMessages(exchange: Exchange, messages: number): void {
  exchange.charge(FURTHER_MESSAGE_UNITS * Math.max(0, messages - 1));
}

/**
 * Charges the message limit of an API key; a request without a key has none.
 *
 * @throws ApiError `tooManyRequests`
 */
export async function chargeMessages(
  exchange: Exchange,
  messages: number,
  chargeKey: ChargeKey,
): Promise<void> {
  const { caller } = exchange;
  if (caller.kind === "anonymous" || messages === 0) return;
  const { limits, admitted } = await chargeKey(caller, messages);
  showWriteLimits(exchange, limits);
  if (!admitted.ok) throw errorOfWrite(admitted.error);
}

/** Adds the message limits to the headers that show what the caller has left. */
function showWriteLimits(exchange: Exchange, limits: readonly WriteLimit[]): void {
  for (const { name, quota, windowSecs, left, fullInSecs } of limits) {
    const { policy, state } = exchange.limitHeaders ?? { policy: "", state: "" };
    const policyItem = `"${name}";q=${quota};w=${windowSecs}`;
    exchange.limitHeaders = {
      // The edge shows the policy of keys that may write.
      policy: policy.includes(policyItem) ? policy : joined(policy, policyItem),
      state: joined(state, `"${name}";r=${left};t=${fullInSecs}`),
    };
  }
}

const joined = (items: string, item: string) => (items === "" ? item : `${items}, ${item}`);

const NAME_BY_STATUS = new Map(
  Object.entries(errorKinds).map(([name, { status }]): [number, ErrorName] => [status, name as ErrorName]),
);

export function errorOfWrite({ status, code, message, retryAfterSecs }: WriteRefusal): ApiError {
  return new ApiError(NAME_BY_STATUS.get(status) ?? "internal", message, {
    code,
    ...(retryAfterSecs === undefined ? {} : { retryAfterSecs }),
  });
}

const IDEM = /^[\x20-\x7e]{1,128}$/;

/** The states of messages that count as written. */
const WRITTEN: ReadonlySet<MessageOutcome["state"]> = new Set(["merged", "queued"]);

/** The two segments of the prefix. */
const PREFIX_SEGMENTS = 2;

/**
 * Executes a write of the caller and sets status and headers of the response: 200 if all of it is merged or already existed, 202 while
 * some of it is still pending.
 *
 * @param write `bodyIdem` is `idem` of the request body
 * @returns the outcomes in the order of the content
 * @throws ApiError if none of it is in the network
 */
export async function executeWrite(
  { request, route, server, set }: Call,
  { writes, auth }: Pick<ApiDeps, "writes" | "auth">,
  write: Pick<WriteCall, "content" | "signerUuid"> & { readonly bodyIdem: unknown },
): Promise<readonly MessageOutcome[]> {
  if (!writes) throw new ApiError("notImplemented", WRITES_OFF);
  const { ownerFid, apiKeyId, writesPerMinute } = keyCallerOf(request);
  const exchange = exchangeOf(request);
  const { requestId, client } = exchange;
  const key = idemOf(request, write.bodyIdem);
  chargeFurtherMessages(exchange, messagesOf(write.content));
  // The followed node may take longer to respond than the idle timeout of a connection.
  server?.timeout(request, 0);
  const reply = await writes.submit({
    owner: { fid: ownerFid, apiKeyId, writesPerMinute },
    route: routeName(request, route),
    idem: key === undefined ? null : { key, bodyDigest: digestOf(rawBody(request)) },
    signerUuid: write.signerUuid,
    content: write.content,
    requestId,
    address: client().address,
  });
  showWriteLimits(exchange, reply.limits ?? []);
  if (!reply.ok) throw errorOfWrite(reply.refusal);
  const { outcomes, replayed } = reply;
  if (!replayed) exchange.writes += outcomes.filter(({ state }) => WRITTEN.has(state)).length;
  const isQueued = outcomes.some(({ state }) => state === "queued");
  const hashes = outcomes.filter(({ hash }) => hash !== "").map(({ hash }) => `0x${hash}`);
  set.status = isQueued ? 202 : 200;
  set.headers[`${auth.names.headerPrefix}Write`] = isQueued ? "queued" : "merged";
  if (hashes.length > 0) set.headers[`${auth.names.headerPrefix}Message`] = hashes.join(",");
  if (replayed) set.headers["idempotent-replayed"] = "true";
  set.headers["cache-control"] = "no-store";
  return outcomes;
}

/** Returns the maximum number of messages of a write. */
function messagesOf(content: WriteCall["content"]): number {
  if (content === "stored") return 0;
  return "signed" in content ? content.signed.length : content.bodies.filter((body) => body !== null).length;
}

/** Reports whether an earlier request with the same idempotency key is stored. */
export async function isStoredWrite(
  { request, route }: Call,
  storedWrites: Pick<WriteStore, "findCall">,
  { signerUuid, bodyIdem }: { readonly signerUuid: string; readonly bodyIdem: unknown },
): Promise<boolean> {
  const idem = idemOf(request, bodyIdem);
  if (idem === undefined) return false;
  const { ownerFid } = keyCallerOf(request);
  const key = { ownerFid, signerUuid, route: routeName(request, route), idem };
  return (await storedWrites.findCall(key)) !== undefined;
}

/** Returns the method and the path below the prefix. */
function routeName({ method }: Request, route: string): string {
  return `${method} /${route
    .split("/")
    .slice(PREFIX_SEGMENTS + 1)
    .join("/")}`;
}

export const WRITES_OFF = "writes are turned off by writes.enabled";

/** Returns the key of a request from its header or its body. */
function idemOf({ headers }: Request, bodyIdem: unknown): string | undefined {
  const inHeader = headers.get("idempotency-key") ?? undefined;
  if (bodyIdem !== undefined && typeof bodyIdem !== "string") throw badIdem("idem");
  if (inHeader !== undefined && !IDEM.test(inHeader)) throw badIdem("Idempotency-Key");
  if (bodyIdem !== undefined && !IDEM.test(bodyIdem)) throw badIdem("idem");
  if (inHeader !== undefined && bodyIdem !== undefined && inHeader !== bodyIdem)
    throw new ApiError("badRequest", "idem differs between the body and the header Idempotency-Key");
  return bodyIdem ?? inHeader;
}

function badIdem(name: string): ApiError {
  return new ApiError("badRequest", `${name} must be 1 to 128 printable ASCII characters`);
}

function digestOf(body: Uint8Array): Uint8Array {
  return new Uint8Array(createHash("sha256").update(body).digest());
}
