import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startDemoPushClient } from "../../src/demo/push-client.ts";
import { keysOfPerson } from "../support/demo-calls.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { exampleEnv } from "../support/document-shell.ts";
import { ROOT } from "../support/documents.ts";
import { type RunningNode, tempDir } from "../support/program.ts";

/** examples/mini-app-backend against the demo network. */

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  const args = ["--set", "net.allow_http=true", "--set", "net.allow_cidrs=127.0.0.0/8"];
  node = await startDemoNode({ dataDir: join(dir.path, "data"), args });
  writeFileSync(join(dir.path, "fid-3.key"), keysOfPerson(3).custody.privateKey, { mode: 0o600 });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

async function startBackend() {
  const child = Bun.spawn([process.execPath, join(ROOT, "examples/mini-app-backend/backend.ts")], {
    cwd: dir.path,
    env: exampleEnv(dir.path, {
      BASE_URL: node.url,
      FID: "3",
      KEY_FILE: "fid-3.key",
      APP_URL: "https://bread.demo.example/",
      ANNOUNCE_TOKEN: "a token",
      PORT: "0",
    }),
    stdout: "pipe",
    stderr: "pipe",
  });
  const { value } = await child.stdout.getReader().read();
  const [, port] = /listening on port (\d+)/.exec(new TextDecoder().decode(value)) ?? [];
  if (port === undefined) throw new Error(await new Response(child.stderr).text());
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
    },
  };
}

test("people who add the app by its manifest get an announcement once, also after a restart of the backend", async () => {
  const shown: string[] = [];
  const client = startDemoPushClient({
    port: 0,
    response: "success",
    show: ({ fid, title }) => shown.push(`${fid} ${title}`),
  });
  const announcement = { uuid: crypto.randomUUID(), title: "Fresh bread", body: "The oven is hot." };
  const announce = async (url: string, token = "a token") => {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/announce`, {
      method: "POST",
      headers,
      body: JSON.stringify(announcement),
    });
    return { status: response.status, text: await response.text() };
  };
  try {
    {
      await using backend = await startBackend();
      const manifest = await (await fetch(`${backend.url}/.well-known/farcaster.json`)).json();
      for (const fid of [4, 5])
        await client.addApp(
          fid,
          new URL((manifest as { miniapp: { webhookUrl: string } }).miniapp.webhookUrl),
          (url, init) => fetch(url, init),
        );
      expect((await announce(backend.url, "another token")).status).toBe(401);
      expect(shown).toEqual([]);
      const sent = await announce(backend.url);
      expect(sent.status).toBe(200);
      expect(JSON.parse(sent.text)).toMatchObject({ success_count: 2 });
    }
    expect(statSync(join(dir.path, "app.json")).mode & 0o777).toBe(0o600);
    await using again = await startBackend();
    await announce(again.url);
    expect(shown.sort()).toEqual(["4 Fresh bread", "5 Fresh bread"]);
  } finally {
    await client.stop();
  }
}, 180_000);
