import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { importSignerOfPerson, postAsPerson } from "../support/demo-calls.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { exampleEnv } from "../support/document-shell.ts";
import { ROOT } from "../support/documents.ts";
import { type RunningNode, tempDir } from "../support/program.ts";

/** examples/mention-bot against the demo network; only base URL and key differ from the hosted API. */

const OWNER = 3;
const BOT = 4;
const PERSON = 5;

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  const args = ["--set", "net.allow_http=true", "--set", "net.allow_cidrs=127.0.0.0/8"];
  node = await startDemoNode({ dataDir: `${dir.path}/data`, args });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response() });
  const { port = 0 } = server;
  await server.stop();
  return port;
}

test("a cast that mentions the bot gets one reply, and a forged delivery none", async () => {
  const scopes = ["read", "write", "signers", "webhooks"];
  const { secret } = await postAsPerson(node, OWNER, "/api_key", { name: "bot", scopes });
  const apiKey = String(secret);
  const signerUuid = await importSignerOfPerson(node, { user: BOT, owner: OWNER });
  const port = await freePort();
  const publicUrl = `http://127.0.0.1:${port}/`;
  const bot = Bun.spawn([process.execPath, join(ROOT, "examples/mention-bot/bot.ts")], {
    cwd: dir.path,
    env: exampleEnv(dir.path, {
      BASE_URL: node.url,
      API_KEY: apiKey,
      SIGNER_UUID: signerUuid,
      PUBLIC_URL: publicUrl,
      PORT: String(port),
    }),
    stdout: "pipe",
    stderr: "pipe",
  });
  try {
    const lines = linesOf(bot.stdout);
    expect((await lines.next()).value).toBe(`listening on port ${port}`);
    const forged = await fetch(publicUrl, {
      method: "POST",
      headers: { "x-neynar-signature": "00" },
      body: "{}",
    });
    expect(forged.status).toBe(401);

    const call = async (method: string, path: string, body?: object) => {
      const response = await fetch(`${node.url}/v2/farcaster${path}`, {
        method,
        headers: { "x-api-key": apiKey, "content-type": "application/json" },
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      expect([path, response.status]).toEqual([path, 200]);
      // biome-ignore lint/suspicious/noExplicitAny: responses of every shape
      return (await response.json()) as any;
    };
    const [mentioned, person] = (await call("GET", `/user/bulk/?fids=${BOT},${PERSON}`)).users;
    const asPerson = await importSignerOfPerson(node, { user: PERSON, owner: OWNER });
    const { cast } = await call("POST", "/cast/", {
      signer_uuid: asPerson,
      text: `what do you think, @${mentioned.username}?`,
    });
    expect((await lines.next()).value).toBe(`answered ${person.username}`);
    const { conversation } = await call("GET", `/cast/conversation/?identifier=${cast.hash}&type=hash`);
    const replies = conversation.cast.direct_replies;
    expect(
      replies.map((reply: { text: string; author: { fid: number } }) => [reply.author.fid, reply.text]),
    ).toEqual([[BOT, `gm @${person.username}!`]]);
  } finally {
    bot.kill();
    await bot.exited;
  }
  expect(await new Response(bot.stderr).text()).toBe("");
});

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let unread = "";
  for await (const chunk of stream) {
    unread += decoder.decode(chunk, { stream: true });
    const ended = unread.split("\n");
    unread = ended.pop() ?? "";
    yield* ended;
  }
}
