import { expect, test } from "bun:test";
import { createConfiguredClient } from "../../src/net/configured-client.ts";
import { withProxy } from "../support/proxy.ts";
import { startRawReceiver } from "../support/receiver.ts";

const SETTINGS = { allow_cidrs: ["127.0.0.1/32"], allow_http: false };

test.each<
  [what: string, setting: (url: string) => string | undefined, connections: [proxy: number, receiver: number]]
>([
  ["through the proxy of the settings", (url) => url, [1, 0]],
  ["directly, if the settings have an empty proxy", () => "", [0, 1]],
  ["directly, if the settings have none", () => undefined, [0, 1]],
])("calls go %s", async (_what, setting, connections) => {
  await using proxy = startRawReceiver((socket) => socket.end());
  await using receiver = startRawReceiver((socket) => socket.end());
  const proxyUrl = setting(`http://127.0.0.1:${proxy.port}`);
  const client = createConfiguredClient(SETTINGS, proxyUrl === undefined ? {} : { proxyUrl });
  const url = `https://127.0.0.1:${receiver.port}/`;
  // Bun takes an empty proxy for none that is set, and then follows the environment.
  await withProxy(`http://127.0.0.1:${proxy.port}`, async () => {
    expect((await client.request({ url, method: "GET", timeoutMs: 5_000 })).ok).toBe(false);
  });
  expect([proxy.connections, receiver.connections]).toEqual(connections);
});
