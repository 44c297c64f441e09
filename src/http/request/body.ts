import { setImmediate } from "node:timers/promises";
import type { StaticDecode, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { TransformDecodeError } from "@sinclair/typebox/value";
import type { Hold, Shortage } from "../../admission/budget.ts";
import { joinSmallParts } from "../../lib/bytes.ts";
import { parseJsonBytes } from "../../lib/json.ts";
import { jsonFaultText } from "../../lib/mistakes/json-fault.ts";
import { invalidKey } from "../caller.ts";
import { ApiError } from "../errors.ts";
import { type BodyIntake, clientKeyOf, type Exchange, exchangeOf } from "../exchange.ts";
import { noRoom } from "../response/error-response.ts";
import { describeValueError } from "../response/validation-message.ts";

const empty = new Uint8Array(0);

/** How many bytes of a refused body are always read before the response. More count towards the client's share of `discards`. */
const FREE_DISCARD_BYTES = 64 * 1024;
/** Twice the largest body that most paths accept. */
const MAX_DISCARDED_BYTES = 2 * 1024 * 1024;

/** The bytes read by the parse hook, for later hooks: a signature covers the bytes, not the JSON. */
const rawBodies = new WeakMap<Request, Uint8Array>();

function tooLarge(maxBytes: number): ApiError {
  return new ApiError("payloadTooLarge", `request body must be at most ${maxBytes} bytes`);
}

/** Parts below this size are read at most once per turn of the event loop. */
const MIN_READ_BYTES = 1024;

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** After a body that took longer, the key is looked up again: its owner may have revoked it meanwhile. */
const CHECK_KEY_AFTER_MS = 100;

/** A body of 1 MB may take 26 seconds. This bounds how long the memory of an unfinished body is held. */
export const BODY_PACE = {
  graceMs: 10_000,
  msPerByte: 1000 / (64 * 1024),
  discardPauseMs: 50,
  discardMs: 1000,
} as const;

/** Returns the Content-Length of a request; 0 if it has none. Bun rejects one that is not a number, but joins equal ones, which gives NaN. */
export function declaredBytes({ headers }: Request): number {
  return Number(headers.get("content-length") ?? 0);
}

/** Returns whether the body of a request is sent in chunks, without a Content-Length. */
export function isChunked({ headers }: Request): boolean {
  return headers.has("transfer-encoding");
}

/** The places of chunked bodies, which end when the body is read, or with the request. */
const places = new WeakMap<Request, Hold>();

/** Takes a place for a request's chunked body. Returns the bound that is exhausted, if any. */
export function placeOfChunked(
  request: Request,
  { chunkedBodies, chunks, chunkShare }: BodyIntake,
  client: string,
): Hold | Shortage {
  if (!chunks.take(client, 1, chunkShare).isAdmitted) return "client";
  const place = chunkedBodies.open(client);
  places.set(request, place);
  return place.grow(1) ?? place;
}

/** Counts the bytes of a chunked body, even beyond its client's share. Returns whether they are within it. */
function payChunks({ bodies: { chunks, chunkShare }, client }: Exchange, bytes: number): boolean {
  const { bucket } = client();
  const kib = Math.ceil(bytes / 1024);
  const { isAdmitted } = chunks.take(bucket, kib, chunkShare);
  if (!isAdmitted) chunks.charge(bucket, kib, chunkShare);
  return isAdmitted;
}

/** Returns whether the body of a request may be so large that discarding it is significant work. */
export function mayHaveLargeBody(request: Request): boolean {
  const declared = declaredBytes(request);
  return declared > FREE_DISCARD_BYTES || (declared === 0 && isChunked(request));
}

/**
 * Reads and discards what a client is still sending before its connection is closed: a system responds to data on a closed connection
 * with a reset, which destroys the response. The wait ends when the client pauses, or sends more than a client would by mistake. Beyond
 * the client's share nothing is read, because a flood of refused bodies would occupy the thread. Unless the body ends, the connection
 * closes with the response.
 */
async function discard(request: Request, started?: BodyReader): Promise<void> {
  const exchange = exchangeOf(request);
  exchange.bodyState = "refused";
  const { discards, discardShare, discardPauseMs, discardMs } = exchange.bodies;
  let paidBytes = FREE_DISCARD_BYTES;
  const pay = (bytes: number, more = 0) => {
    if (isChunked(request) && !payChunks(exchange, more)) return false;
    if (bytes <= paidBytes) return true;
    const kib = Math.ceil((bytes - paidBytes) / 1024);
    paidBytes = bytes;
    return discards.take(clientKeyOf(exchange), kib, discardShare).isAdmitted;
  };
  const declared = declaredBytes(request);
  // Data that arrived while this thread was busy is only read after its timers.
  const pause = () => Bun.sleep(discardPauseMs).then(() => setImmediate(undefined));
  const endsAtMs = performance.now() + discardMs;
  let reader = started;
  if (declared <= MAX_DISCARDED_BYTES && pay(declared)) {
    reader ??= request.body?.getReader();
    let more = 0;
    for (let bytes = 0; bytes < MAX_DISCARDED_BYTES && pay(bytes, more) && performance.now() < endsAtMs; ) {
      const part = await Promise.race([reader?.read(), pause()]).catch(() => undefined);
      if (part === undefined) break;
      if (part.done) {
        exchange.bodyState = "read";
        return;
      }
      more = part.value.byteLength;
      bytes += more;
      if (more < MIN_READ_BYTES) await setImmediate();
    }
  }
  reader?.cancel().catch(() => undefined);
}

/**
 * Reads a body and counts its bytes as they arrive. It never buffers more than the limit, and the buffer is counted in the budget until
 * the end of the request. A body whose declared size does not fit is refused unread. Bun stops reading a connection whose body is not
 * consumed after about 1 MB.
 */
async function readCounted(
  request: Request,
  body: NonNullable<Request["body"]>,
  maxBytes: number,
): Promise<Uint8Array> {
  const exchange = exchangeOf(request);
  const { bodies } = exchange;
  const { budget, uploads, graceMs, msPerByte } = bodies;
  const client = clientKeyOf(exchange);
  const upload = uploads.open(client);
  const hold = budget.open(client);
  exchange.bodyHold = hold;
  let reader: BodyReader | undefined;
  const startedMs = performance.now();
  const parts: Uint8Array[] = [];
  let bytes = 0;
  let isCut = false;
  let timer: NodeJS.Timeout | undefined;
  const cutLater = (ms: number) => {
    timer = setTimeout(() => {
      const leftMs = graceMs + bytes * msPerByte - (performance.now() - startedMs);
      if (leftMs > 0) return cutLater(leftMs);
      isCut = true;
      // Ends the pending read.
      reader?.cancel().catch(() => undefined);
    }, ms);
  };
  cutLater(graceMs);
  try {
    const tooMany = upload.grow(1);
    if (tooMany !== undefined) throw noRoom(uploads.terms.unit, tooMany);
    const lack = hold.shortageOf(declaredBytes(request));
    if (lack !== undefined) throw noRoom(budget.terms.unit, lack);
    reader = body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      if (isChunked(request) && !payChunks(exchange, part.value.byteLength))
        throw noRoom(bodies.chunkedBodies.terms.unit, "client");
      const shortage = hold.grow(part.value.byteLength);
      if (shortage !== undefined) throw noRoom(budget.terms.unit, shortage);
      parts.push(part.value);
      joinSmallParts(parts);
      // Bun joins what arrives meanwhile. A read per one-byte chunk would keep the thread from other requests.
      if (part.value.byteLength < MIN_READ_BYTES) await setImmediate();
    }
    if (isCut) throw new ApiError("requestTimeout", "the request body did not arrive in time");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    hold.end();
    parts.length = 0;
    // Otherwise the pace of bodies would end the discarding, as if the body had ended.
    clearTimeout(timer);
    if (isCut) exchange.bodyState = "refused";
    else await discard(request, reader);
    throw error;
  } finally {
    clearTimeout(timer);
    upload.end();
    places.get(request)?.end();
  }
  exchange.bodyState = "read";
  const isLate = performance.now() - startedMs > CHECK_KEY_AFTER_MS;
  if (isLate && exchange.isStillAdmitted && !(await exchange.isStillAdmitted())) throw invalidKey();
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, bytes);
}

/**
 * Refuses a body whose Content-Length exceeds `maxBytes`, without storing any of it.
 * @throws ApiError `payloadTooLarge`; `badRequest` for a repeated Content-Length
 */
export async function refuseDeclaredSize(request: Request, maxBytes: number): Promise<void> {
  const bytes = declaredBytes(request);
  if (bytes <= maxBytes) return;
  await discard(request);
  throw Number.isNaN(bytes)
    ? new ApiError("badRequest", "the request has more than one Content-Length")
    : tooLarge(maxBytes);
}

/**
 * Reads a request's body and stores its bytes for `rawBody`; further calls return them.
 * @throws ApiError `payloadTooLarge` like `refuseDeclaredSize`, and as soon as the bytes exceed `maxBytes`; `requestTimeout` for a body
 * that stalls; `tooManyRequests` or `unavailable` if the bodies of the client, or of all, use too much memory; `unauthorized` if its key
 * became invalid meanwhile.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const { body } = request;
  const read = rawBodies.get(request);
  if (read !== undefined || body === null) return read ?? empty;
  await refuseDeclaredSize(request, maxBytes);
  const bytes = await readCounted(request, body, maxBytes);
  rawBodies.set(request, bytes);
  return bytes;
}

/** Returns the bytes of a body that `readBody` has read; empty if there was no body. */
export function rawBody(request: Request): Uint8Array {
  return rawBodies.get(request) ?? empty;
}

/** The parse hook of every route that accepts a body: reads it within the limit of its path and does not decode it. */
export function captureBody({ request }: { readonly request: Request }): Promise<Uint8Array> {
  return readBody(request, exchangeOf(request).policy.maxBodyBytes);
}

/**
 * Runs a check before the body of a request is read. If it refuses the request, the connection stays open only if the body has arrived: a
 * client must not be able to hold it by withholding the rest.
 */
export async function checkBeforeBody(request: Request, check: () => Promise<unknown>): Promise<void> {
  try {
    await check();
  } catch (error) {
    const { body } = request;
    if (body !== null && !body.locked) await discard(request);
    throw error;
  }
}

/** The part of a handler's context that checks of credentials need. */
export interface CredentialsContext {
  readonly request: Request;
  readonly params: Readonly<Record<string, string>>;
}

/**
 * Creates the parse hook of a route whose credentials are in headers: they are checked before any of the body is read. The handler checks
 * them again, because they may have been revoked while the body arrived, and because a request without a body has no parse hook.
 */
export function captureBodyAfter(check: (context: CredentialsContext) => Promise<unknown>) {
  return async ({ request, params }: CredentialsContext): Promise<Uint8Array> => {
    await refuseDeclaredSize(request, exchangeOf(request).policy.maxBodyBytes);
    await checkBeforeBody(request, () => check({ request, params }));
    return captureBody({ request });
  };
}

/** @throws ApiError `badRequest` for a missing body, invalid UTF-8 or invalid JSON. */
export function parseBody(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) throw new ApiError("badRequest", "missing request body");
  const value = parseJsonBytes(bytes);
  if (value === undefined)
    throw new ApiError("badRequest", `request body is not valid JSON${jsonFaultText(bytes)}`);
  return value;
}

/**
 * Creates a decoder of JSON bodies for one schema. It parses the body, validates it and applies the schema's
 * transforms. The check is compiled at the first use. An error names one field and its rule.
 */
export function jsonBodyDecoder<S extends TSchema>(schema: S): (bytes: Uint8Array) => StaticDecode<S> {
  let compiled: TypeCheck<S> | undefined;
  return (bytes) => {
    const value = parseBody(bytes);
    compiled ??= TypeCompiler.Compile(schema);
    if (!compiled.Check(value)) {
      const first = compiled.Errors(value).First();
      throw new ApiError("badRequest", first === undefined ? undefined : describeValueError(first));
    }
    try {
      return compiled.Decode(value);
    } catch (error) {
      throw error instanceof TransformDecodeError && error.error instanceof ApiError ? error.error : error;
    }
  };
}
