import { JSONParser } from "@streamparser/json";
import { reasonOf, UserError } from "../../../lib/failure.ts";
import { parseJson } from "../../../lib/json.ts";

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
    // In small parts, to limit the bytes since the last token.
    for (let at = 0; at < chunk.length; at += MAX_TOKEN_BYTES) {
      const part = chunk.subarray(at, at + MAX_TOKEN_BYTES);
      tokenBytes += part.length;
      parser.write(part);
      yield* found.splice(0);
      if (fault !== undefined) throw new UserError(`${path} is no JSON: ${reasonOf(fault)}`);
      if (tokenBytes > 2 * MAX_TOKEN_BYTES) throw new UserError(`${path} is no list of notification tokens`);
    }
  }
  if (!parser.isEnded) {
    parser.end();
    if (fault !== undefined) throw new UserError(`${path} ends in the middle: ${reasonOf(fault)}`);
  }
}

async function* tokensOfLines(path: string): AsyncGenerator<unknown> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  let number = 0;
  const parsed = (line: string): unknown => {
    number += 1;
    try {
      return line.trim() === "" ? undefined : JSON.parse(line);
    } catch (cause) {
      throw new UserError(`${path}: line ${number} is no JSON: ${reasonOf(cause)}`, { cause });
    }
  };
  for await (const chunk of chunksOf(path)) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    if (rest.length > MAX_TOKEN_BYTES)
      throw new UserError(`${path}: line ${number + lines.length + 1} is too long`);
    for (const line of lines) {
      const token = parsed(line);
      if (token !== undefined) yield token;
    }
  }
  const last = parsed(rest);
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
