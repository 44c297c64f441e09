import type { StaticDecode, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { TransformDecodeError } from "@sinclair/typebox/value";
import type { Budget } from "../admission/budget.ts";
import { parseJsonBytes } from "../lib/json.ts";
import { ApiError } from "./errors.ts";
import { clientKeyOf, type Exchange, exchangeOf } from "./exchange.ts";
import { noRoom } from "./no-room.ts";
import { describeValueError } from "./validation-message.ts";

const empty = new Uint8Array(0);

/** Bytes of a body that is too large which are read before the response. Twice the largest body that any path takes. */
const MAX_DISCARDED_BYTES = 2 * 1024 * 1024;
/** So long a client may pause within them. */
const DISCARD_PAUSE_MS = 50;
/** So long they may take. */
const MAX_DISCARD_MS = 1000;

/** The bytes read by the parse hook, for later hooks: a signature covers the bytes, not the JSON. */
const rawBodies = new WeakMap<Request, Uint8Array>();

function tooLarge(maxBytes: number): ApiError {
  return new ApiError("payloadTooLarge", `request body must be at most ${maxBytes} bytes`);
}

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, "read" | "cancel">;

/** How request bodies are received. */
export interface BodyIntake {
  /** What the bodies of all requests in flight hold. */
  readonly budget: Budget;
  /** How long a body may take, and how much longer for each further byte. */
  readonly graceMs: number;
  readonly msPerByte: number;
}

/** A body of 1 MB has 26 seconds. The memory that an unfinished body holds is therefore held for a bounded time. */
export const BODY_PACE = { graceMs: 10_000, msPerByte: 1000 / (64 * 1024) } as const;

/**
 * Reads and discards what a client is still sending, before its connection is closed: a system answers data on a closed connection with a
 * reset, which takes the response with it. The wait ends when the client pauses, or sends more than a mistaken one would.
 */
async function discard(reader: BodyReader): Promise<void> {
  const pause = () => Bun.sleep(DISCARD_PAUSE_MS).then(() => undefined);
  const endsAtMs = performance.now() + MAX_DISCARD_MS;
  for (let bytes = 0; bytes < MAX_DISCARDED_BYTES && performance.now() < endsAtMs; ) {
    const part = await Promise.race([reader.read(), pause()]).catch(() => undefined);
    if (part === undefined || part.done) break;
    bytes += part.value.byteLength;
  }
  reader.cancel().catch(() => undefined);
}

/**
 * Reads a body, counting its bytes as they arrive: it never buffers more than the limit, and what it buffers is held of the budget until the
 * end of the request. Bun stops reading a connection whose body is not read, after about 1 MB.
 */
async function readCounted(reader: BodyReader, maxBytes: number, exchange: Exchange): Promise<Uint8Array> {
  const { budget, graceMs, msPerByte } = exchange.bodies;
  const startedMs = performance.now();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  let isCut = false;
  let timer: NodeJS.Timeout | undefined;
  const cutLater = (ms: number) => {
    timer = setTimeout(() => {
      const leftMs = graceMs + bytes * msPerByte - (performance.now() - startedMs);
      if (leftMs > 0) return cutLater(leftMs);
      isCut = true;
      // Ends the read that waits.
      reader.cancel().catch(() => undefined);
    }, ms);
  };
  cutLater(graceMs);
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      bytes += part.value.byteLength;
      if (bytes > maxBytes) throw tooLarge(maxBytes);
      exchange.bodyHold ??= budget.open(clientKeyOf(exchange));
      const shortage = exchange.bodyHold.grow(part.value.byteLength);
      if (shortage !== undefined) throw noRoom(budget.terms.unit, shortage);
      chunks.push(part.value);
    }
    if (isCut) throw new ApiError("requestTimeout", "the request body did not arrive in time");
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    exchange.isBodyUnread = true;
    exchange.bodyHold?.end();
    chunks.length = 0;
    if (!isCut) await discard(reader);
    throw error;
  } finally {
    clearTimeout(timer);
  }
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks, bytes);
}

/**
 * Reads a request's body once and stores its bytes for `rawBody`.
 * @throws ApiError `payloadTooLarge`: without keeping any of it if Content-Length exceeds `maxBytes` (Bun rejects a
 * Content-Length that is not a number), otherwise as soon as the bytes exceed `maxBytes`. `requestTimeout` for a body that stalls;
 * `tooManyRequests` or `unavailable` if the client's bodies, or those of all, hold too much.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const { body } = request;
  if (body === null) return empty;
  const exchange = exchangeOf(request);
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) {
    exchange.isBodyUnread = true;
    if (Number(declared) <= MAX_DISCARDED_BYTES) await discard(body.getReader());
    throw tooLarge(maxBytes);
  }
  const bytes = await readCounted(body.getReader(), maxBytes, exchange);
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

/** @throws ApiError `badRequest` for a missing body, invalid UTF-8 or invalid JSON. */
export function parseBody(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0) throw new ApiError("badRequest", "missing request body");
  const value = parseJsonBytes(bytes);
  if (value === undefined) throw new ApiError("badRequest", "request body is not valid JSON");
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
