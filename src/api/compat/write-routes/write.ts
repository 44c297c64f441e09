import { createHash } from "node:crypto";
import { rawBody } from "../../../http/body.ts";
import { ApiError } from "../../../http/errors.ts";
import { exchangeOf, keyCallerOf } from "../../../http/exchange.ts";
import type { MessageOutcome } from "../../../writes/outcome.ts";
import type { WriteCall, Writes } from "../../../writes/rpc.ts";
import type { WriteStore } from "../../../writes/store/write-store.ts";
import { chargeFurtherMessages, errorOfWrite, showWriteLimits } from "../../shared/write-limits.ts";

/** Dependencies of the routes that write. */
export interface WriteRouteDeps {
  /** Undefined while writes are off. */
  readonly writes: Writes | undefined;
  /** Prefix of the service's own headers, as `X-Svc-`. */
  readonly headerPrefix: string;
}

/** The part of a handler's context that a write needs. */
export interface WriteContext {
  readonly request: Request;
  /** Template of the whole path, for example `/v2/farcaster/cast`. */
  readonly route: string;
  readonly server: { timeout(request: Request, seconds: number): void } | null;
  readonly set: { status?: number | string; readonly headers: Record<string, string | number> };
}

const IDEM = /^[\x20-\x7e]{1,128}$/;
/** The states of messages that count as written. */
const WRITTEN: ReadonlySet<MessageOutcome["state"]> = new Set(["merged", "queued"]);
/** The two segments of the prefix. */
const PREFIX_SEGMENTS = 2;

/**
 * Executes a write of the caller and sets status and headers of the response: 200 when all of it is merged or was there before, 202
 * while some of it is on its way.
 *
 * @param write `bodyIdem` is `idem` of the request body
 * @returns the outcomes in the order of the content
 * @throws ApiError when nothing of it is in the network
 */
export async function executeWrite(
  { request, route, server, set }: WriteContext,
  { writes, headerPrefix }: WriteRouteDeps,
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
  set.headers[`${headerPrefix}Write`] = isQueued ? "queued" : "merged";
  if (hashes.length > 0) set.headers[`${headerPrefix}Message`] = hashes.join(",");
  if (replayed) set.headers["idempotent-replayed"] = "true";
  set.headers["cache-control"] = "no-store";
  return outcomes;
}

/** Returns the number of messages that a write may make. */
function messagesOf(content: WriteCall["content"]): number {
  if (content === "stored") return 0;
  return "signed" in content ? content.signed.length : content.bodies.filter((body) => body !== null).length;
}

/** Whether an earlier request with the same idempotency key is stored. */
export async function isStoredWrite(
  { request, route }: WriteContext,
  storedWrites: Pick<WriteStore, "findCall">,
  { signerUuid, bodyIdem }: { readonly signerUuid: string; readonly bodyIdem: unknown },
): Promise<boolean> {
  const idem = idemOf(request, bodyIdem);
  if (idem === undefined) return false;
  const { ownerFid } = keyCallerOf(request);
  const key = { ownerFid, signerUuid, route: routeName(request, route), idem };
  return (await storedWrites.findCall(key)) !== undefined;
}

/** Method and path below the prefix. */
function routeName({ method }: Request, route: string): string {
  return `${method} /${route
    .split("/")
    .slice(PREFIX_SEGMENTS + 1)
    .join("/")}`;
}

const WRITES_OFF = "writes are turned off by writes.enabled";

/** The key of a request, from its header or its body. */
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
