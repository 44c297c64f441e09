import { appendFileSync, readFileSync, statSync } from "node:fs";
import { reasonOf, UserError } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import { createPrivateFile } from "../../runtime/files.ts";

/** A call made by an app. Neither its headers nor the body of a write are recorded. */
export interface RecordedCall {
  readonly method: string;
  readonly path: string;
  /** Without the question mark. Empty if it may contain a credential. */
  readonly query: string;
  readonly status: number;
  /** The JSON of the response to a read. */
  readonly body?: unknown;
  /** False for a write, and for a call with a credential in its query or response. */
  readonly isPlayable: boolean;
}

const MAX_FILE_BYTES = 256 * 1024 * 1024;
const MAX_BODY_BYTES = 2 * 1024 * 1024;
const CREDENTIAL =
  /(?:^|&)(?:(?:x[-_])?api[-_]?key|signer_uuid|signature|message|(?:access_?|channel_?)?token|nonce|secret)=/i;
/** Reads whose responses contain secrets: those of webhooks, signers and sign-ins, and notification tokens. */
const SECRET_READ = /\/(?:webhook|signer|login|notification_tokens)(?:\/|$)/i;

/** Returns what is recorded of a call. */
export function recordedCall(
  method: string,
  { pathname, search }: Pick<URL, "pathname" | "search">,
  status: number,
  text: string,
): RecordedCall {
  const query = search.slice(1);
  const isPlayable =
    method === "GET" && !CREDENTIAL.test(decodedOf(query)) && !SECRET_READ.test(decodedOf(pathname));
  const body = isPlayable && text.length <= MAX_BODY_BYTES ? parseJson(text) : undefined;
  return {
    method,
    path: pathname,
    query: isPlayable ? query : "",
    status,
    isPlayable,
    ...(body !== undefined && { body }),
  };
}

function decodedOf(query: string): string {
  try {
    return decodeURIComponent(query);
  } catch {
    return query;
  }
}

/**
 * Opens a file for calls, one per line. Only its owner can read it, because responses may concern users.
 *
 * @returns a function that adds a call; false once the file is full.
 * @throws UserError for a file that cannot be created or already exists
 */
export function createRecording(path: string): (call: RecordedCall) => boolean {
  if (statSync(path, { throwIfNoEntry: false })) throw new UserError(`${path} is there already`);
  try {
    createPrivateFile(path);
  } catch (cause) {
    throw new UserError(`${path} cannot be created: ${reasonOf(cause)}`, { cause });
  }
  let bytes = 0;
  return (call) => {
    const line = `${JSON.stringify(call)}\n`;
    bytes += Buffer.byteLength(line);
    if (bytes > MAX_FILE_BYTES) return false;
    appendFileSync(path, line);
    return true;
  };
}

/**
 * Reads a recording. A truncated last line is ignored.
 *
 * @throws UserError if the file is not a recording
 */
export function readRecording(path: string): RecordedCall[] {
  let text: string;
  try {
    if (statSync(path).size > MAX_FILE_BYTES) throw new Error("it is too large");
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw new UserError(`${path} cannot be read: ${reasonOf(cause)}`, { cause });
  }
  const lines = text.split("\n").slice(0, -1);
  return lines.map((line, at) => {
    const call = parseJson(line);
    if (!isCall(call)) throw new UserError(`line ${at + 1} of ${path} is not a recorded call`);
    return call;
  });
}

function isCall(value: unknown): value is RecordedCall {
  if (typeof value !== "object" || value === null) return false;
  const { method, path, query, status, isPlayable } = value as Record<string, unknown>;
  return (
    typeof method === "string" &&
    typeof path === "string" &&
    path.startsWith("/") &&
    typeof query === "string" &&
    typeof status === "number" &&
    typeof isPlayable === "boolean"
  );
}
