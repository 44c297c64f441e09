import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../support/api.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { readAllPages } from "../support/read-all-pages.ts";
import { linkMessage } from "../support/social.ts";

let api: TestApi;

const take = (bytes: Uint8Array) => expect(api.node.ingestMessage(bytes)).toBe("ok");

beforeAll(async () => {
  api = await startTestApi();
  for (const fid of [1, 2, 3, 4, 5]) api.node.ingestAll(accountRecords(fid));
  for (const fid of [3, 2, 4]) take(linkMessage(1, "block", fid, { at: DEFAULT_TIMESTAMP + fid }));
  for (const fid of [5, 2]) take(linkMessage(1, "mute", fid));
  take(linkMessage(1, "follow", 3));
  take(linkMessage(2, "block", 1));
  take(linkMessage(1, "block", 4, { remove: true, at: DEFAULT_TIMESTAMP + 9 }));
});

afterAll(() => api[Symbol.asyncDispose]());

test("lists only the blocks and mutes of the fid, newest first, in pages of any size", async () => {
  for (const [path, expected] of [
    ["/block/list?fid=1", [3, 2]],
    ["/mute/list?fid=1", [5, 2]],
    ["/block/list?fid=2", [1]],
    ["/mute/list?fid=2", []],
    [`/block/list?fid=${2n ** 53n + 1n}`, []],
  ] as const) {
    for (const limit of [1, 3, 100]) {
      const users = await readAllPages<{ fid: number }>(api, path, "users", limit);
      expect(users.map(({ fid }) => fid)).toEqual([...expected]);
    }
  }
});

test("a missing or malformed parameter is 400 naming it", async () => {
  for (const path of ["/block/list", "/mute/list"]) {
    for (const [query, name] of [
      ["", "fid"],
      ["?fid=-1", "fid"],
      ["?fid=1&limit=0", "limit"],
      ["?fid=1&cursor=garbage", "cursor"],
    ] as const) {
      const { status, body } = await api.get(path + query);
      expect({ path, query, status }).toEqual({ path, query, status: 400 });
      expect(body.message).toContain(name);
    }
  }
});

test("rejects a cursor of blocks for mutes", async () => {
  const { body } = await api.get("/block/list?fid=1&limit=1");
  const { cursor } = body.next as { cursor: string };
  expect((await api.get(`/mute/list?fid=1&cursor=${cursor}`)).status).toBe(400);
});
