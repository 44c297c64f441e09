import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { UserError } from "../../../lib/failure.ts";
import { resumingRead } from "../../../net/objects/resuming-read.ts";
import type { RetryPolicy } from "../../../net/objects/retry-calls.ts";
import { createOperatorFetch } from "../../../net/operator-fetch.ts";
import type { Place } from "./place.ts";
import { unseal } from "./seal-stream.ts";

/** The list of the snapshots in a folder, which a writer to a bucket maintains. */
export const SNAPSHOT_LIST = "snapshots.json";
const MAX_LIST_BYTES = 1024 * 1024;
/** Until a server has sent a file, only four attempts of at most ten seconds are made, because its name may be wrong. */
const FIRST_FAILURES = 4;
const FIRST_STALL_MS = 10_000;

const listSchema = Type.Object({
  snapshots: Type.Array(
    Type.Object({
      name: Type.String({ pattern: "^[\\w.-]{1,200}$" }),
      bytes: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    }),
    { maxItems: 10_000 },
  ),
});

/** A read-only folder of a web server. Its files are those of a directory or of a bucket. */
export function webPlace(deps: {
  readonly url: URL;
  readonly key: string;
  readonly retries: RetryPolicy;
}): Place {
  const { url, key, retries } = deps;
  const base = new URL(url);
  // A query or a password may be a secret.
  base.search = "";
  base.hash = "";
  base.username = "";
  base.password = "";
  base.pathname = base.pathname.replace(/\/*$/, "/");
  const label = base.href.replace(/\/$/, "");
  const call = createOperatorFetch(base.href);
  let policy: RetryPolicy = {
    ...retries,
    maxFailures: Math.min(retries.maxFailures, FIRST_FAILURES),
    stallMs: Math.min(retries.stallMs, FIRST_STALL_MS),
  };
  const readStored = (name: string, signal: AbortSignal) => {
    const file = new URL(base);
    file.pathname += encodeURIComponent(name);
    file.search = url.search;
    const open = async (headers: Readonly<Record<string, string>>, either: AbortSignal) => {
      const response = await call(file, {
        headers: { ...headers, "accept-encoding": "identity" },
        signal: either,
      });
      if (response.ok) policy = retries;
      return response;
    };
    return resumingRead(`${label}/${name}`, open, { policy, signal });
  };
  const refuse = async () => {
    throw new UserError(`${label} is only read. Name a directory or a URL of s3://`);
  };
  return {
    label,
    directory: undefined,
    read: (name, signal) => unseal(readStored(name, signal), key),
    async snapshots(signal) {
      const chunks: Uint8Array[] = [];
      let length = 0;
      for await (const chunk of readStored(SNAPSHOT_LIST, signal)) {
        length += chunk.length;
        if (length > MAX_LIST_BYTES) throw new UserError(`${label}/${SNAPSHOT_LIST} is too large`);
        chunks.push(chunk);
      }
      const value = parse(Buffer.concat(chunks).toString());
      if (!Value.Check(listSchema, value))
        throw new UserError(`${label}/${SNAPSHOT_LIST} is not a list of snapshots`);
      return value.snapshots;
    },
    inside(name) {
      const folder = new URL(base);
      folder.pathname += encodeURIComponent(name);
      folder.search = url.search;
      return webPlace({ url: folder, key, retries });
    },
    begin: refuse,
    delete: refuse,
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
