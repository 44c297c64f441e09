import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { scripts } from "../package.json" with { type: "json" };
import { openState, statePath } from "../src/state/database.ts";
import { fromSources, type RunningNode, startNode, tempDir } from "./support/program.ts";
import { readmeExample } from "./support/readme.ts";
import { APP_ID, SECRET, startSendApi, testApp } from "./support/send.ts";
import { localStores } from "./support/state-stores.ts";

const ROOT = join(import.meta.dir, "..");
const readme = await Bun.file(join(ROOT, "README.md")).text();
/** Stands for public hosts, so that no name has to be resolved. */
const PUBLIC_HOST = "93.184.216.34";

const dir = tempDir();
let node: RunningNode;
beforeAll(async () => {
  symlinkSync(join(ROOT, "node_modules"), join(dir.path, "node_modules"));
  node = await startNode({ command: fromSources, dataDir: `${dir.path}/data`, demo: true });
}, 60_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

/** Runs an example where the program and the packages are at hand; what it prints. */
async function run(command: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: dir.path,
    env: { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, HOME: dir.path, ...env },
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

/** An example of "Moving from a hosted API" as it stands there, but for the addresses. */
async function moving(name: string, file: string): Promise<void> {
  const text = readmeExample(`moving: ${name}`)
    .replaceAll("http://127.0.0.1:8080", node.url)
    .replaceAll("https://example.com", `https://${PUBLIC_HOST}`)
    .replaceAll("api.farcaster.xyz", PUBLIC_HOST)
    .replaceAll("bun src/main.ts", `bun ${ROOT}/src/main.ts`);
  await Bun.write(`${dir.path}/${file}`, `${text}\n`);
}

test("the README's request gives the answer that it prints", async () => {
  const [, path, answer] = /<!-- answer: (\S+) -->\n```json\n([\s\S]*?)\n```/.exec(readme) ?? [];
  expect(readme).toContain(`curl 'http://127.0.0.1:8080${path}'`);
  const response = await fetch(`${node.url}${path}`);
  expect(await response.json()).toEqual(JSON.parse(answer ?? ""));
});

test("the README's SDK client reads from the node", async () => {
  await moving("read", "read.ts");
  const out = await run([process.execPath, "read.ts"]);
  expect(out).toMatch(/^mirawren \d{4}-\d\d-\d\dT[\d:]{8}\.000Z (true|false)\ntove .*\n$/);
});

test("the README's interceptor signs the SDK's webhook calls", async () => {
  await moving("signing", "signing.ts");
  await moving("webhooks", "webhooks.ts");
  expect(await run([process.execPath, "webhooks.ts"])).toBe('[ "Brotzeit ☕ false" ]\n');
});

test("the README's commands bring tokens along, from a list on the net and from a file, and write them out", async () => {
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

  await moving("tokens", "tokens.sh");
  const script = await Bun.file(`${dir.path}/tokens.sh`).text();
  await Bun.write(`${dir.path}/tokens.sh`, script.replace("https://api.neynar.com", source.signed.api.url));
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

test("every script that the README tells is in package.json", () => {
  const told = [...readme.matchAll(/bun(?:@[\d.]+)? run ([\w:]+)/g)].map(([, name]) => name ?? "");
  expect(told.length).toBeGreaterThan(5);
  for (const name of told) expect(Object.keys(scripts)).toContain(name);
});

test("every command that the README tells is one that the program knows", () => {
  const told = new Set([...readme.matchAll(/`svc ([a-z]+)/g)].map(([, name]) => name ?? ""));
  const help = Bun.spawnSync([...fromSources, "--help"]).stdout.toString();
  expect(told.size).toBeGreaterThan(3);
  for (const name of told) expect(help).toMatch(new RegExp(`^  ${name}\\b`, "m"));
});
