import { afterAll, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { startTestApi } from "../../support/api.ts";
import { demoIndex } from "../../support/demo-index.ts";
import { specPaths } from "./spec-paths.ts";

/**
 * The recorded responses of the native prefix, status and every byte, from before the compat dialect existed. To
 * record an intended change: `UPDATE_NATIVE_RESPONSES=1 bun test test/api/compat/spec-unchanged.test.ts`.
 */
const recordedPath = join(import.meta.dir, "native-responses.json");
const recorded: Readonly<Record<string, string>> = await Bun.file(recordedPath).json();

const api = await startTestApi({ compatPrefixes: ["farcaster"], index: await demoIndex() });
afterAll(() => api[Symbol.asyncDispose]());

const ask = (path: string, init: RequestInit = {}) => fetch(`${api.url}/v2/svc${path}`, init);

const { casts } = (await (await ask("/feed/user/casts?fid=4&limit=5")).json()) as {
  casts: { hash: string }[];
};
const paths = specPaths({
  fids: [1, 3, 4, 77, 9_999_999],
  hashes: casts.map(({ hash }) => hash),
  channels: ["books", "cats", "nochannel"],
  urls: ["https://warpcast.com/~/channel/books", "https://example.com"],
  names: ["mirawren", "harbor", "nobodyhere"],
  addresses: ["0x39dfd74a51c190aca89413131a916139f6c14445", "0x658a61548f7fce1c5d62c50d167f129551c319e0"],
});

/** What channels have since they are part of the protocol. */
const ADDED = new Set([
  "source",
  "channel_id",
  "owner",
  "owner_address",
  "expires_at",
  "lapsed",
  "header",
  "rules",
  "casting_mode",
  "membership_mode",
]);

/** Native responses may gain fields, but lose and change none. */
function withoutAddedFields(text: string): string {
  if (!text.includes('"object":"channel"')) return text;
  return JSON.stringify(JSON.parse(text), (_, value) =>
    value?.object === "channel"
      ? Object.fromEntries(Object.entries(value).filter(([name]) => !ADDED.has(name)))
      : value,
  );
}

async function digest(path: string, init?: RequestInit): Promise<string> {
  const response = await ask(path, init);
  const text = withoutAddedFields(await response.text());
  return `${response.status} ${createHash("sha256").update(text).digest("hex").slice(0, 16)}`;
}

test("every response equals the recorded one, to the byte", async () => {
  const responses: Record<string, string> = {};
  for (const path of paths) responses[path] = await digest(path);
  if (process.env.UPDATE_NATIVE_RESPONSES)
    await Bun.write(recordedPath, `${JSON.stringify(responses, null, 2)}\n`);
  else expect(responses).toEqual(recorded);
});

test("additional parameters and headers of compat clients change nothing", async () => {
  const headers = { "x-api-key": "KEY", "x-sdk": "node", "x-sdk-version": "3.177.0" };
  for (const path of paths.filter((_, at) => at % 7 === 0)) {
    const more = `${path}${path.includes("?") ? "&" : "?"}viewer_fid=6&with_recasts=false&sort_type=algorithmic`;
    expect([path, await digest(more, { headers })]).toEqual([path, await digest(path)]);
  }
});
