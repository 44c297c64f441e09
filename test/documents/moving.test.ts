import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openState, statePath } from "../../src/db/state/database.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { exampleEnv, inCheckout } from "../support/document-shell.ts";
import { documentExample, ROOT } from "../support/documents.ts";
import { type RunningNode, tempDir } from "../support/program.ts";
import { APP_ID, SECRET, startSendApi, testApp } from "../support/send.ts";
import { localStores } from "../support/state-stores.ts";

/** A placeholder for public hosts, so that no name has to be resolved. */
const PUBLIC_HOST = "93.184.216.34";

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  symlinkSync(join(ROOT, "node_modules"), join(dir.path, "node_modules"));
  node = await startDemoNode({ dataDir: `${dir.path}/data` });
  await run(["sh", "-e", "-c", inCheckout(documentExample("keys"))]);
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

/** Runs a command with the packages and keys in place; returns its output. */
async function run(command: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: dir.path,
    env: exampleEnv(dir.path, env),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect({ exitCode: await child.exited, errors }).toEqual({ exitCode: 0, errors: "" });
  return out;
}

/** Writes an example of docs/moving-from-a-hosted-api.md with the addresses of the test. */
async function write(file: string, example: string): Promise<void> {
  const text = inCheckout(example)
    .replaceAll("http://127.0.0.1:8080", node.url)
    .replaceAll("https://example.com", `https://${PUBLIC_HOST}`)
    .replaceAll("api.farcaster.xyz", PUBLIC_HOST);
  await Bun.write(`${dir.path}/${file}`, `${text}\n`);
}

test("the SDK client reads from the node", async () => {
  await write("read.ts", documentExample("moving reads"));
  const out = await run([process.execPath, "read.ts"]);
  expect(out).toMatch(/^mirawren \d{4}-\d\d-\d\dT[\d:]{8}\.000Z (true|false)\ntove .*\n$/);
});

test("the SDK's webhook calls need a key and nothing else", async () => {
  await write(
    "webhook-key.sh",
    documentExample("moving webhook key").replace("--fid 3", `--url ${node.url} --fid 3`),
  );
  await run(["sh", "-e", "-c", ". ./webhook-key.sh 2> created.txt"]);
  await write("webhooks.ts", documentExample("moving webhooks"));
  expect(await run([process.execPath, "webhooks.ts"])).toBe('[ "Brotzeit ☕ false" ]\n');
});

test("the commands import tokens from a URL and from a file, and export them", async () => {
  const tokenOf = (fid: number) => ({ fid, url: `https://${PUBLIC_HOST}/n`, token: `t${fid}` });
  await using source = await startSendApi({ compatPrefixes: ["farcaster"] });
  source.addTokens([1, 2, 3].map(tokenOf));
  await Bun.write(`${dir.path}/neynar.key`, SECRET);
  await Bun.write(`${dir.path}/tokens.json`, JSON.stringify({ notification_tokens: [4, 5].map(tokenOf) }));
  const data = `${dir.path}/moved`;
  mkdirSync(data, { mode: 0o700 });
  {
    using state = openState(statePath(data));
    await localStores(state).apps.create(testApp(), 1);
  }

  await write(
    "tokens.sh",
    documentExample("moving tokens").replace("https://api.neynar.com", source.signed.api.url),
  );
  const out = await run(["sh", "-e", "tokens.sh"], {
    APP_ID,
    SVC_DATA_DIR: data,
    SVC_LOG_LEVEL: "silent",
    SVC_NET_ALLOW_HTTP: "true",
    SVC_NET_ALLOW_CIDRS: "127.0.0.0/8",
  });
  const counts = (added: number) =>
    `Tokens: ${added} added, 0 updated, 0 unchanged, 0 newer here, 0 refused\n  ${PUBLIC_HOST}: ${added} (client 9152)\n`;
  expect(out).toBe(`${counts(3)}Nothing was changed (--dry-run)\n${counts(2)}`);
  const backup = await Bun.file(`${dir.path}/backup.json`).json();
  expect(backup.notification_tokens.map(({ fid }: { fid: number }) => fid)).toEqual([4, 5]);
});
