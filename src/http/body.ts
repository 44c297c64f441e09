import type { StaticDecode, TSchema } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { TransformDecodeError } from "@sinclair/typebox/value";
import { parseJsonBytes } from "../lib/json.ts";
import { ApiError } from "./errors.ts";
import { exchangeOf } from "./exchange.ts";
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

/** Reads a body of unknown length. It counts the bytes as they arrive, so it never buffers more than the limit. */
async function readCounted(reader: BodyReader, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    bytes += part.value.byteLength;
    if (bytes > maxBytes) {
      await discard(reader);
      throw tooLarge(maxBytes);
    }
    chunks.push(part.value);
  }
  return Buffer.concat(chunks, bytes);
}

/**
 * Reads a request's body once and stores its bytes for `rawBody`.
 * @throws ApiError `payloadTooLarge`: without keeping any of it if Content-Length exceeds `maxBytes` (Bun rejects a
 * Content-Length that is not a number), otherwise as soon as the bytes exceed `maxBytes`.
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get("content-length");
  if (declared !== null && Number(declared) > maxBytes) {
    if (request.body !== null && Number(declared) <= MAX_DISCARDED_BYTES)
      await discard(request.body.getReader());
    throw tooLarge(maxBytes);
  }
  const read =
    declared === null && request.body !== null
      ? readCounted(request.body.getReader(), maxBytes)
      : request.bytes();
  const bytes = await read;
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
