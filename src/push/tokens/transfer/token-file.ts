import { JSONParser } from "@streamparser/json";
import { reasonOf, UserError } from "../../../lib/failure.ts";
import { isoTime } from "../../../lib/iso-time.ts";
import { parseJson } from "../../../lib/json.ts";
import { ok, type Result } from "../../../lib/result.ts";
import { ownValue, readObject } from "../../../management/fields.ts";
import { badField, type Refusal } from "../../../management/refusal.ts";
import type { TokenPosition, TokenRecord, TokenStore } from "../../store/tokens/token-store.ts";
import { readDetailsToken, readDetailsUrl } from "../token-events.ts";

/** A token in the list format of the hosted API. */
export interface ListedToken {
  readonly object: "notification_token";
  readonly fid: number;
  readonly status: "enabled" | "disabled";
  /** Absent, like `token`, if the app was added without notifications. */
  readonly url?: string;
  readonly token?: string;
  /** ISO 8601. */
  readonly created_at: string;
  readonly updated_at: string;
}

/** A validated entry of such a list, with an unchecked URL. Times are unix seconds. */
interface GivenToken {
  readonly fid: number;
  readonly url: string;
  readonly token: string;
  readonly isEnabled: boolean;
  readonly createdAt: number | undefined;
  readonly updatedAt: number | undefined;
}

export function listToken({ fid, state, details, createdAt, updatedAt }: TokenRecord): ListedToken {
  return {
    object: "notification_token",
    fid,
    status: state === "enabled" ? "enabled" : "disabled",
    ...(details ? { url: details.url, token: details.token } : {}),
    created_at: isoTime(createdAt),
    updated_at: isoTime(updatedAt),
  };
}

/** Reads an entry of a list. Unknown keys are ignored; the refusals are a bounded set of texts. */
export function readListedToken(value: unknown): Result<GivenToken, Refusal> {
  const input = readObject(value, "the token");
  if (!input.ok) return input;
  const fid = ownValue(input.value, "fid");
  if (typeof fid !== "number" || !Number.isSafeInteger(fid) || fid < 1) {
    return badField("fid must be a positive integer");
  }
  const status = ownValue(input.value, "status") ?? "enabled";
  if (status === "invalid") return badField("status is invalid: the client takes nothing for it");
  if (status !== "enabled" && status !== "disabled") {
    return badField("status must be enabled, disabled or invalid");
  }
  const url = readDetailsUrl(ownValue(input.value, "url"), "url");
  if (!url.ok) return url;
  const token = readDetailsToken(ownValue(input.value, "token"), "token");
  if (!token.ok) return token;
  const createdAt = readTime(ownValue(input.value, "created_at"), "created_at");
  if (!createdAt.ok) return createdAt;
  const updatedAt = readTime(ownValue(input.value, "updated_at"), "updated_at");
  if (!updatedAt.ok) return updatedAt;
  return ok({
    fid,
    url: url.value,
    token: token.value,
    isEnabled: status === "enabled",
    createdAt: createdAt.value,
    updatedAt: updatedAt.value,
  });
}

const ISO_TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d/;

/** Reads a time in ISO 8601 as unix seconds; undefined if there is none. */
function readTime(value: unknown, name: string): Result<number | undefined, Refusal> {
  if (value === undefined || value === null) return ok(undefined);
  const ms = typeof value === "string" && ISO_TIME.test(value) ? Date.parse(value) : Number.NaN;
  return ms >= 0 ? ok(Math.floor(ms / 1000)) : badField(`${name} must be a time in ISO 8601`);
}

/** Paths of the tokens: in a page, in concatenated pages, or in an array of pages. */
const TOKEN_PATHS = ["$.notification_tokens.*", "$.*.notification_tokens.*"];
/** Far more than a token needs; longer input is not a list of tokens. */
const MAX_TOKEN_BYTES = 64 * 1024;

/**
 * Yields the tokens of a file, with one token in memory at a time. The file contains pages
 * (`{ "notification_tokens": […], "next": … }`): one, several concatenated or in an array; or one token on each line.
 *
 * @throws UserError when the file cannot be read or is not such a list; tokens before the fault are valid.
 */
export async function* tokensOfFile(path: string): AsyncGenerator<unknown> {
  const file = Bun.file(path);
  const head = await reading(path, () => file.slice(0, MAX_TOKEN_BYTES).text());
  yield* isTokenLine(head) ? tokensOfLines(path) : tokensOfPages(path);
}

async function* tokensOfPages(path: string): AsyncGenerator<unknown> {
  const found: unknown[] = [];
  let tokenBytes = 0;
  let fault: unknown;
  const parser = new JSONParser({ paths: TOKEN_PATHS, keepStack: false, separator: "" });
  parser.onValue = ({ value }) => {
    found.push(value);
    tokenBytes = 0;
  };
  parser.onError = (cause) => {
    fault ??= cause;
  };
  for await (const chunk of chunksOf(path)) {
    // In small parts, to bound the bytes since the last token.
    for (let at = 0; at < chunk.length; at += MAX_TOKEN_BYTES) {
      const part = chunk.subarray(at, at + MAX_TOKEN_BYTES);
      tokenBytes += part.length;
      parser.write(part);
      yield* found.splice(0);
      if (fault !== undefined) throw new UserError(`${path} is not valid JSON: ${reasonOf(fault)}`);
      if (tokenBytes > 2 * MAX_TOKEN_BYTES) throw new UserError(`${path} is no list of notification tokens`);
    }
  }
  parser.end();
  if (fault !== undefined) throw new UserError(`${path} ends in the middle: ${reasonOf(fault)}`);
}

async function* tokensOfLines(path: string): AsyncGenerator<unknown> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const decoded = (chunk?: Uint8Array): string => {
    try {
      return decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new UserError(`${path} is not valid UTF-8`, { cause });
    }
  };
  let rest = "";
  let number = 0;
  const parsed = (line: string): unknown => {
    number += 1;
    try {
      return line.trim() === "" ? undefined : JSON.parse(line);
    } catch (cause) {
      throw new UserError(`${path}: line ${number} is not valid JSON: ${reasonOf(cause)}`, { cause });
    }
  };
  for await (const chunk of chunksOf(path)) {
    const lines = (rest + decoded(chunk)).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_TOKEN_BYTES)
      throw new UserError(`${path}: line ${number + lines.length + 1} is too long`);
    for (const line of lines) {
      const token = parsed(line);
      if (token !== undefined) yield token;
    }
  }
  const last = parsed(rest + decoded());
  if (last !== undefined) yield last;
}

async function* chunksOf(path: string): AsyncGenerator<Uint8Array> {
  const chunks = Bun.file(path).stream()[Symbol.asyncIterator]();
  for (;;) {
    const next = await reading(path, () => chunks.next());
    if (next.done) return;
    yield next.value;
  }
}

async function reading<T>(path: string, read: () => Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new UserError(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

/** Returns whether the first line of a file is a token. */
function isTokenLine(head: string): boolean {
  const first = parseJson(head.split("\n", 1)[0] ?? "");
  return typeof first === "object" && first !== null && Object.hasOwn(first, "fid");
}

const PAGE_TOKENS = 1000;

/** Yields the tokens of an app as the text of one list page. Rows without a token are left out. */
export async function* exportTokens(store: Pick<TokenStore, "list">, appId: string): AsyncGenerator<string> {
  yield '{"notification_tokens":[';
  let separator = "\n";
  let after: TokenPosition | undefined;
  for (;;) {
    const records = await store.list({ appId, after, max: PAGE_TOKENS });
    let part = "";
    for (const record of records) {
      if (record.details === null) continue;
      part += separator + JSON.stringify(listToken(record));
      separator = ",\n";
    }
    yield part;
    if (records.length < PAGE_TOKENS) break;
    after = records.at(-1);
  }
  yield '\n],"next":{"cursor":null}}\n';
}
