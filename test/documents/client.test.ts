import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { startPulse } from "../client/scenario.ts";
import { keysOfPerson } from "../support/demo-calls.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { documentExample, ROOT } from "../support/documents.ts";
import { type RunningNode, tempDir } from "../support/program.ts";

const dir = tempDir();
let node: RunningNode;

beforeAll(async () => {
  node = await startDemoNode({ dataDir: join(dir.path, "demo") });
  writeFileSync(join(dir.path, "fid-3.key"), keysOfPerson(3).custody.privateKey, { mode: 0o600 });
  // The packages that a developer installs.
  const packages = join(dir.path, "node_modules");
  const built = Bun.spawnSync([process.execPath, "client/build.ts", join(packages, "@svc/client")], {
    cwd: ROOT,
  });
  expect(built.success).toBe(true);
  mkdirSync(join(packages, "@noble"));
  for (const name of ["viem", "openapi-fetch", "@noble/hashes"])
    symlinkSync(join(ROOT, "node_modules", name), join(packages, name));
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

/** Starts an example in a directory of its own, against the node of this test. */
function start(
  example: string,
  replacements: Readonly<Record<string, string>> = {},
  env: Record<string, string> = {},
) {
  let code = example.replaceAll("http://127.0.0.1:8080", node.url);
  for (const [from, to] of Object.entries(replacements)) {
    expect(code).toContain(from);
    code = code.replaceAll(from, to);
  }
  const file = join(dir.path, `${crypto.randomUUID()}.ts`);
  writeFileSync(file, code);
  return Bun.spawn([process.execPath, file], {
    cwd: dir.path,
    env: { ...process.env, ...env },
    stdout: "pipe",
  });
}

/** Reads what a program prints until it is enough. */
async function readUntil(
  child: ReturnType<typeof start>,
  isEnough: (text: string) => boolean,
): Promise<string> {
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (isEnough(text)) break;
  }
  return text;
}

test("the client reads", async () => {
  expect(await new Response(start(documentExample("client reads")).stdout).text()).toBe("Mira Wren\n");
});

test("the client signs", async () => {
  expect(
    await new Response(
      start(documentExample("client signs"), { "https://example.com": "https://bread.demo.example/" }).stdout,
    ).text(),
  ).toContain("Bread club");
});

test("the client follows the stream", async () => {
  const child = start(documentExample("client follows"), { '"(?i)bread"': '"."' });
  const read = readUntil(child, (text) => text.includes("cast.created"));
  await startPulse(node.url);
  expect(await read).toContain("cast.created");
  child.kill();
  await child.exited;
}, 180_000);

test("the client receives deliveries, and refuses what is not one", async () => {
  const secret = `whsec_${Buffer.from("a secret of 24 bytes ...").toString("base64")}`;
  const child = start(
    documentExample("client receives"),
    { "port: 9400": "port: 0" },
    { WEBHOOK_SECRET: secret },
  );
  const [, url = ""] = /listening on (\S+)/.exec(await readUntil(child, (text) => text.includes("\n"))) ?? [];
  expect((await fetch(url, { method: "POST", body: "{}" })).status).toBe(401);
  const body = '{"created_at":1,"type":"cast.created","data":{}}';
  const at = new Date();
  const headers = {
    "webhook-id": "msg_1",
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign("msg_1", at, body),
  };
  expect((await fetch(url, { method: "POST", headers, body })).status).toBe(200);
  child.kill();
  await child.exited;
}, 180_000);
