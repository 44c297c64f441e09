import { UserError } from "../../lib/failure.ts";
import { createOperatorFetch } from "../operator-fetch.ts";
import { readUpTo } from "../read-up-to.ts";
import { resumingRead } from "./resuming-read.ts";
import { RETRIES, type RetryPolicy, requireSuccess, retrying } from "./retry-calls.ts";
import {
  EMPTY_SHA256,
  encodeKey,
  encodeQuery,
  type StoreCredentials,
  sha256,
  signedHeaders,
} from "./sign-request.ts";

export interface StoredObject {
  readonly key: string;
  readonly bytes: number;
}

/** A bucket of an S3-compatible store. Every method retries network and server errors, and throws as `retrying` does. */
export type ObjectStore = ReturnType<typeof createObjectStore>;

export interface ObjectStoreSettings {
  /** The origin of the store; empty for that of AWS in the region. */
  readonly endpoint: string;
  readonly bucket: string;
  readonly credentials: StoreCredentials;
  readonly retries?: RetryPolicy;
  readonly nowMs?: () => number;
  /** The size in bytes of the parts in which a large object is written. One part is in memory at a time. */
  readonly partBytes?: number;
}

/** A store accepts at most 10,000 parts, so this is enough for 640 GB. */
const PART_BYTES = 64 * 1024 * 1024;
const MAX_PARTS = 10_000;
const MAX_XML_BYTES = 4 * 1024 * 1024;
const MAX_PAGES = 20;
/** A part may take this many times longer than a response without a body. */
const PART_STALLS = 10;

export function createObjectStore(settings: ObjectStoreSettings) {
  const { bucket, credentials, retries = RETRIES, nowMs = Date.now, partBytes = PART_BYTES } = settings;
  const endpoint = settings.endpoint || `https://s3.${credentials.region}.amazonaws.com`;
  const base = new URL(endpoint);
  const path = base.pathname.replace(/\/$/, "");
  const call = createOperatorFetch(endpoint);
  const labelOf = (key: string) => `s3://${bucket}/${key}`;

  /** Makes one attempt, with its own signature, because signatures expire. */
  async function send(
    method: string,
    key: string,
    options: {
      readonly query?: Readonly<Record<string, string>>;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: Uint8Array;
      readonly signal: AbortSignal;
    },
  ): Promise<Response> {
    const { query = {}, headers = {}, body, signal } = options;
    const url = new URL(base.origin);
    url.pathname = `${path}/${encodeKey(bucket)}${key === "" ? "" : `/${encodeKey(key)}`}`;
    url.search = encodeQuery(query);
    const digest = body === undefined ? EMPTY_SHA256 : sha256(body);
    const signed = signedHeaders({ method, url, headers }, digest, credentials, nowMs());
    return await call(url, {
      method,
      headers: { ...signed, "accept-encoding": "identity" },
      signal,
      ...(body === undefined ? {} : { body: body as Uint8Array<ArrayBuffer> }),
    });
  }

  /** Sends until a complete response has arrived; `read` reads it. */
  async function request<T>(
    method: string,
    key: string,
    options: Parameters<typeof send>[2],
    read: (response: Response) => Promise<T>,
  ): Promise<T> {
    const label = labelOf(key);
    const { signal, body } = options;
    const timeMs = retries.stallMs * (body === undefined ? 1 : PART_STALLS);
    const once = async () => {
      const timed = AbortSignal.any([signal, AbortSignal.timeout(timeMs)]);
      return await read(await requireSuccess(label, await send(method, key, { ...options, signal: timed })));
    };
    return await retrying(label, once, { policy: retries, signal });
  }

  async function writeParts(
    key: string,
    parts: AsyncIterator<Uint8Array>,
    first: Uint8Array,
    second: Uint8Array,
    signal: AbortSignal,
  ): Promise<void> {
    const started = await request("POST", key, { query: { uploads: "" }, signal }, xmlOf);
    const uploadId = /<UploadId>([^<]{1,2000})<\/UploadId>/.exec(started)?.[1];
    if (uploadId === undefined) throw new UserError(`${labelOf(key)}: the store did not start an upload`);
    try {
      const tags: string[] = [];
      const add = async (body: Uint8Array) => {
        const number = tags.length + 1;
        if (number > MAX_PARTS) throw new UserError(`${labelOf(key)}: more than ${MAX_PARTS} parts`);
        const query = { partNumber: `${number}`, uploadId };
        tags.push(
          await request(
            "PUT",
            key,
            { query, body, signal },
            async ({ headers }) => headers.get("etag") ?? "",
          ),
        );
      };
      await add(first);
      await add(second);
      for (let next = await parts.next(); !next.done; next = await parts.next()) await add(next.value);
      const list = tags.map(
        (tag, at) => `<Part><PartNumber>${at + 1}</PartNumber><ETag>${escapeXml(tag)}</ETag></Part>`,
      );
      const body = new TextEncoder().encode(
        `<CompleteMultipartUpload>${list.join("")}</CompleteMultipartUpload>`,
      );
      const done = await request("POST", key, { query: { uploadId }, body, signal }, xmlOf);
      // The store may report an error in a response with status 200.
      if (done.includes("<Error>"))
        throw new UserError(`${labelOf(key)}: the store did not complete the upload`);
    } catch (cause) {
      // Parts of uploads that never finish are stored and charged for.
      const ending = AbortSignal.timeout(retries.stallMs);
      await send("DELETE", key, { query: { uploadId }, signal: ending }).catch(() => undefined);
      throw cause;
    }
  }

  return {
    /** Writes an object, which appears only when all bytes are stored. */
    async write(
      key: string,
      chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
      signal: AbortSignal,
    ): Promise<void> {
      const parts = inParts(chunks, partBytes);
      const first = (await parts.next()).value ?? new Uint8Array();
      const second = await parts.next();
      if (second.done) await request("PUT", key, { body: first, signal }, async () => undefined);
      else await writeParts(key, parts, first, second.value, signal);
    },
    read: (key: string, signal: AbortSignal): AsyncIterable<Uint8Array> =>
      resumingRead(labelOf(key), (headers, either) => send("GET", key, { headers, signal: either }), {
        policy: retries,
        signal,
      }),
    /** Lists the objects whose keys start with a prefix, ordered by key. */
    async list(prefix: string, signal: AbortSignal): Promise<readonly StoredObject[]> {
      const found: StoredObject[] = [];
      let token: string | undefined;
      for (let page = 0; page < MAX_PAGES; page++) {
        const query = {
          "list-type": "2",
          prefix,
          ...(token === undefined ? {} : { "continuation-token": token }),
        };
        const xml = await request("GET", "", { query, signal }, xmlOf);
        for (const [, entry = ""] of xml.matchAll(/<Contents>([\s\S]*?)<\/Contents>/g)) {
          const key = /<Key>([^<]*)<\/Key>/.exec(entry)?.[1];
          const bytes = Number(/<Size>(\d{1,16})<\/Size>/.exec(entry)?.[1]);
          if (key !== undefined && Number.isSafeInteger(bytes)) found.push({ key: unescapeXml(key), bytes });
        }
        const next = /<NextContinuationToken>([^<]{1,4000})<\/NextContinuationToken>/.exec(xml)?.[1];
        if (next === undefined) return found;
        token = unescapeXml(next);
      }
      throw new UserError(
        `${labelOf(prefix)} holds more than ${found.length} objects: use a prefix of its own`,
      );
    },
    /** Deletes an object. Succeeds if there is none. */
    delete: (key: string, signal: AbortSignal): Promise<void> =>
      request("DELETE", key, { signal }, async () => undefined),
  };
}

/** Joins chunks to parts of equal size; only the last may be shorter. */
async function* inParts(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  partBytes: number,
): AsyncGenerator<Uint8Array, undefined> {
  let waiting: Uint8Array[] = [];
  let length = 0;
  for await (let chunk of chunks) {
    while (length + chunk.length >= partBytes) {
      const rest = partBytes - length;
      yield Buffer.concat([...waiting, chunk.subarray(0, rest)]);
      chunk = chunk.subarray(rest);
      waiting = [];
      length = 0;
    }
    // The producer may reuse the memory of a chunk.
    if (chunk.length > 0) waiting.push(Uint8Array.from(chunk));
    length += chunk.length;
  }
  if (length > 0) yield Buffer.concat(waiting);
}

async function xmlOf(response: Response): Promise<string> {
  const { body, truncated } = await readUpTo(response, MAX_XML_BYTES);
  if (truncated) throw new UserError("the response of the store is too long for a list");
  return new TextDecoder().decode(body);
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function unescapeXml(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|apos|#\d{1,7});/g, (_, name: string) =>
    name.startsWith("#") ? String.fromCodePoint(Number(name.slice(1))) : (ENTITIES[name] ?? ""),
  );
}

function escapeXml(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
