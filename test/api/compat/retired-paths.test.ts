import { afterAll, beforeAll, expect, test } from "bun:test";
import { startTestApi, type TestApi } from "../../support/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
});
afterAll(() => api[Symbol.asyncDispose]());

test.each([
  ["POST", "/frame/validate", "gone: mini apps sign their events; register one and read its token webhook"],
  ["GET", "/feed/frames", "gone: use GET /frame/catalog"],
  ["GET", "/user/power", "gone: use GET /user/power_users"],
  ["GET", "/user/relevant_followers", "gone: use GET /followers/relevant"],
])(
  "%s %s, which the hosted API has replaced, is 410 and names the successor",
  async (method, path, message) => {
    const response = await fetch(`${api.url}/v2/farcaster${path}`, { method });
    expect([response.status, await response.json()]).toEqual([410, { message }]);
  },
);
