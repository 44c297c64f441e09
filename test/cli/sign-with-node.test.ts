import { afterAll, beforeAll, expect, test } from "bun:test";
import { statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { exampleEnv, inCheckout } from "../support/document-shell.ts";
import { documentExample, ROOT } from "../support/documents.ts";
import { ALLOWED_URL, custodyKey, type ManagementNode, startManagementNode } from "./management-node.ts";
import { emptyDir, run } from "./run.ts";

const FID = 3;

let node: ManagementNode;
beforeAll(async () => {
  node = await startManagementNode();
}, 180_000);
afterAll(() => node[Symbol.asyncDispose]());

/** Replaces the address of the node in an example. The names in it need no DNS. */
function adapted(example: string): string {
  expect(example).toContain("https://bread.demo.example");
  return inCheckout(example).replaceAll("http://127.0.0.1:8080", node.url);
}

/** Runs a command in a directory with the packages and the program of this repository. */
async function runThere(
  dir: string,
  command: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const child = Bun.spawn([...command], {
    cwd: dir,
    env: exampleEnv(dir, env),
    stdout: "pipe",
    stderr: "pipe",
  });
  const [out, errors] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  expect({ exitCode: await child.exited, errors }).toEqual({ exitCode: 0, errors: "" });
  for (const text of [out, errors]) expect(text).not.toContain(custodyKey(FID).slice(2));
  return out;
}

/** A directory with an example and the keys of FID. */
function exampleDir(example: string, file: string) {
  const dir = emptyDir();
  symlinkSync(join(ROOT, "node_modules"), join(dir.path, "node_modules"));
  const keys = Bun.spawnSync(["sh", "-e", "-c", inCheckout(documentExample("keys"))], {
    cwd: dir.path,
    env: exampleEnv(dir.path),
  });
  expect([keys.exitCode, keys.stderr.toString()]).toEqual([0, ""]);
  writeFileSync(join(dir.path, file), adapted(example));
  return dir;
}

async function appNames(): Promise<string[]> {
  const { apps } = await node.json(FID, ["app", "list"]);
  return (apps as unknown as { name: string }[]).map(({ name }) => name);
}

/** Sends a request of FID with the headers that `svc sign` prints for it. */
async function signed(method: string, path: string, body: string) {
  const args = ["sign", method, path, "--json", "--fid", `${FID}`, "--body", "-"];
  const { out } = await run(args, { env: { SVC_KEY: custodyKey(FID) }, stdin: body });
  const headers: Record<string, string> = JSON.parse(out);
  return async (sentMethod: string, sentBody: string) => {
    const init = { method: sentMethod, headers, body: sentBody };
    const response = await fetch(`${node.url}/v2/svc${path}`, init);
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
}

test("a node accepts the headers of sign once, for the same body and method only", async () => {
  const body = `{\n  "name": "Brotzeit ☕",\n  "app_url": "${ALLOWED_URL}"\n}\n`;
  const send = await signed("POST", "/frame/app/", body);
  expect(await send("POST", body.trimEnd())).toMatchObject({ status: 401 });
  expect(await send("DELETE", body)).toMatchObject({ status: 400 });
  expect(await send("POST", body)).toMatchObject({ status: 200, body: { app: { name: "Brotzeit ☕" } } });
  expect(await send("POST", body)).toMatchObject({ status: 401 });
});

test("a node accepts the headers of sign for PATCH, which no other command sends", async () => {
  const args = ["webhook", "create", "--name", "x", "--target-url", ALLOWED_URL, "--on", "cast.created"];
  const { webhook } = await node.json(FID, args);
  const { webhook_id } = webhook as unknown as { webhook_id: string };
  const body = JSON.stringify({ webhook_id, active: "false" });
  const send = await signed("PATCH", "/webhook", body);
  expect(await send("PATCH", body)).toMatchObject({ status: 200, body: { webhook: { active: false } } });
  await node.as(FID, ["webhook", "delete", webhook_id]);
});

test("runs the documented commands, which write a private key file and manage apps and webhooks with it", async () => {
  using dir = exampleDir(documentExample("manage"), "commands.sh");
  const before = await appNames();
  await runThere(dir.path, ["sh", "-e", "commands.sh"], { SVC_HTTP_PORT: new URL(node.url).port });
  expect(statSync(join(dir.path, `fid-${FID}.key`)).mode & 0o777).toBe(0o600);
  expect(await appNames()).toEqual([...before, "Bread club"]);
  const { webhooks } = await node.json(FID, ["webhook", "list"]);
  expect(webhooks as unknown).toMatchObject([
    {
      title: "Bread talk",
      subscription: { "cast.created": { author_fids: [1, 2], text: "(?i)\\bbread\\b" } },
    },
  ]);
}, 180_000);

test.skipIf(Bun.which("curl") === null)(
  "runs the documented curl command, which creates an app",
  async () => {
    using dir = exampleDir(documentExample("sign for curl"), "curl.sh");
    // Without a terminal curl would show its progress on standard error.
    writeFileSync(join(dir.path, ".curlrc"), "silent");
    const before = await appNames();
    const out = await runThere(dir.path, ["sh", "-e", "curl.sh"]);
    expect(JSON.parse(out)).toMatchObject({ app: { owner_fid: FID, name: "Bread club" } });
    expect(await appNames()).toEqual([...before, "Bread club"]);
  },
);

test("runs the documented viem example, which creates an app and reads it", async () => {
  using dir = exampleDir(documentExample("sign with viem"), "example.ts");
  const before = await appNames();
  const out = await runThere(dir.path, [process.execPath, "example.ts"]);
  expect(out).toContain('name: "Bread club"');
  expect(await appNames()).toEqual([...before, "Bread club"]);
});

test("runs the documented wallet example, which creates an app with the wallet of a browser", async () => {
  using dir = exampleDir(documentExample("sign with a wallet"), "example.js");
  const before = await appNames();
  const preload = join(import.meta.dir, "processes/sign-wallet.ts");
  const command = [process.execPath, "--preload", preload, "example.js"];
  const out = await runThere(dir.path, command, { WALLET_KEY: custodyKey(FID) });
  expect(out).toStartWith("200 ");
  expect(await appNames()).toEqual([...before, "Bread club"]);
});
