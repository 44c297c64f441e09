import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createPrivateKey } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createAppClient, viemConnector } from "@farcaster/auth-client";
import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";
import { openStateReader, statePath } from "../../../src/db/state/database.ts";
import { taskStateDb } from "../../../src/db/state/sqlite-state-db.ts";
import { createSignInKeys } from "../../../src/sign-in/tokens/key-store.ts";
import { readMasterKey } from "../../../src/vault/master-key.ts";
import { createSealer } from "../../../src/vault/sealer.ts";
import { compiledProgram } from "../../support/compiled-program.ts";
import { keysOfPerson } from "../../support/demo-calls.ts";
import { startDemoNode } from "../../support/demo-node.ts";
import { type RunningNode, startNode, tempDir } from "../../support/program.ts";

/** The compiled program with the demo network and four HTTP workers. */

const PERSON = 3;
const DOMAIN = "app.example";
const dir = tempDir();
const dataDir = join(dir.path, "data");
/** A URL that stays when the port changes: tokens name it. */
const ARGS = [
  "--log-level",
  "trace",
  "--set",
  "http.workers=4",
  "--set",
  "service.public_url=https://node.example",
];
const logs: string[] = [];
let node: RunningNode;
beforeAll(async () => {
  node = await startDemoNode({ dataDir, args: ARGS });
}, 180_000);
afterAll(async () => {
  await node.stop();
  dir[Symbol.dispose]();
});

async function start(at = dataDir): Promise<RunningNode> {
  logs.push(node.logs());
  return startNode({ command: compiledProgram, dataDir: at, demo: true, args: ARGS });
}

/** Posts over a connection of its own, which any worker may accept. */
async function post(path: string, body: object = {}) {
  const response = await fetch(node.url + path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    keepalive: false,
  });
  // biome-ignore lint/suspicious/noExplicitAny: a response of any shape
  return { status: response.status, body: (await response.json()) as any };
}

async function signedMessage() {
  const { nonce } = (await post("/quick-auth/nonce")).body;
  const account = privateKeyToAccount(keysOfPerson(PERSON).custody.privateKey);
  const message = createSiweMessage({
    address: account.address,
    chainId: 10,
    domain: DOMAIN,
    uri: `https://${DOMAIN}/`,
    version: "1",
    statement: "Farcaster Auth",
    resources: [`farcaster://fid/${PERSON}`],
    nonce,
  });
  return { message, signature: await account.signMessage({ message }), domain: DOMAIN };
}

const newToken = async () =>
  (await post("/quick-auth/verify-siwf", await signedMessage())).body.token as string;

const verify = (token: string) =>
  fetch(`${node.url}/quick-auth/verify-jwt?${new URLSearchParams({ token, domain: DOMAIN })}`, {
    keepalive: false,
  });

const kids = async () =>
  (
    (await (await fetch(`${node.url}/quick-auth/.well-known/jwks.json`)).json()) as {
      keys: { kid: string }[];
    }
  ).keys.map(({ kid }) => kid);

async function svc(...args: readonly string[]): Promise<string> {
  const child = Bun.spawn([...compiledProgram, ...args], { cwd: dir.path, stdout: "pipe", stderr: "pipe" });
  const [out, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  expect({ code, errors: code === 0 ? "" : errors }).toEqual({ code: 0, errors: "" });
  return out + errors;
}

test("check 2: of 50 copies of a message at once on four workers exactly one gets a token", async () => {
  const body = await signedMessage();
  const all = await Promise.all([...Array(50)].map(() => post("/quick-auth/verify-siwf", body)));
  expect(all.every(({ status }) => status === 200)).toBe(true);
  expect(all.filter(({ body: { valid } }) => valid)).toHaveLength(1);
  expect(all.filter(({ body: { reason } }) => reason === "invalid_nonce")).toHaveLength(49);
});

test.skipIf(!Bun.which("strace"))(
  "check 14: a verification by the node as RPC, and a sign-in, connect to no one",
  async () => {
    const file = join(dir.path, "calls");
    const strace = Bun.spawn(
      ["strace", "-f", "-e", "trace=connect,accept4", "-o", file, "-p", String(node.pid)],
      {
        stderr: "pipe",
      },
    );
    for await (const line of strace.stderr) if (Buffer.from(line).includes("attached")) break;
    const { message, signature, domain } = await signedMessage();
    const ethereum = viemConnector({ rpcUrl: `${node.url}/rpc/10` });
    const nonce = /Nonce: (.*)/.exec(message)?.[1] ?? "";
    const verified = await createAppClient({ ethereum }).verifySignInMessage({
      message,
      signature,
      domain,
      nonce,
    });
    expect(verified.success).toBe(true);
    expect((await post("/quick-auth/verify-siwf", { message, signature, domain })).body.valid).toBe(true);
    strace.kill("SIGINT");
    await strace.exited;
    const calls = readFileSync(file, "utf8");
    expect(calls).toContain("accept4(");
    expect(calls.match(/connect\(.*sa_family=AF_INET.*/g)).toBeNull();
  },
);

describe("the key of tokens", () => {
  test("check 9: is the same after a restart and after kill -9, and its tokens live on", async () => {
    const token = await newToken();
    const before = await kids();
    await node.stop();
    node = await start();
    expect(await kids()).toEqual(before);
    expect((await verify(token)).status).toBe(200);
    await node.kill();
    node = await start();
    expect(await kids()).toEqual(before);
    const second = await newToken();
    expect([(await verify(token)).status, (await verify(second)).status]).toEqual([200, 200]);
  });

  test("check 9: is nowhere in the data directory, its log, a backup or the log of the program", async () => {
    const places = async () => {
      const backups = join(dir.path, "backups");
      await svc("--data-dir", dataDir, "backup", "--to", backups);
      const files = [dataDir, backups].flatMap((root) =>
        readdirSync(root, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name)),
      );
      return [
        ...files.map((path) => ({ name: path, bytes: readFileSync(path) })),
        { name: "log", bytes: Buffer.from([...logs, node.logs()].join("\n")) },
      ];
    };
    const contents = await places();
    using state = openStateReader(statePath(dataDir));
    const [key] = await createSignInKeys(taskStateDb(state)).list();
    if (!key) throw new Error("no key");
    const master = readMasterKey(readFileSync(join(dataDir, "signers.key"), "utf8").trim());
    const pkcs8 = createSealer([master], "svc quick auth key 1").open(
      Buffer.from(`quick auth:${key.kid}`),
      key,
    );
    const jwk = createPrivateKey({ key: Buffer.from(pkcs8), format: "der", type: "pkcs8" }).export({
      format: "jwk",
    });
    const secrets = [jwk.d, jwk.p, jwk.q].map((part) => Buffer.from(part ?? "", "base64url"));
    const found = (parts: readonly Buffer[]) =>
      contents
        .filter(({ bytes }) =>
          parts.some((part) =>
            [part, part.toString("hex"), part.toString("base64url")].some((form) => bytes.includes(form)),
          ),
        )
        .map(({ name }) => name);
    expect(secrets.every(({ length }) => length >= 128)).toBe(true);
    expect(found(secrets)).toEqual([]);
    // The search finds what is there.
    expect(found([Buffer.from(key.kid)]).length).toBeGreaterThan(0);
  });

  test("check 8: --now makes every worker refuse earlier tokens at once, and says what it does", async () => {
    const token = await newToken();
    const verdicts = async (which: string) =>
      new Set((await Promise.all([...Array(24)].map(() => verify(which)))).map(({ status }) => status));
    expect(await verdicts(token)).toEqual(new Set([200]));
    const before = await kids();
    expect(await svc("--data-dir", dataDir, "quick-auth", "rotate", "--now")).toContain("10 minutes");
    expect(await verdicts(token)).toEqual(new Set([400]));
    expect(await (await verify(token)).json()).toMatchObject({ reason: "unknown_key" });
    const after = await kids();
    expect(after).toHaveLength(1);
    expect(after).not.toEqual(before);
    expect(await verdicts(await newToken())).toEqual(new Set([200]));
  });

  test("check 26: a restored backup has another key, and no nonce or channel of before", async () => {
    const token = await newToken();
    const before = await kids();
    const unused = await signedMessage();
    const { channelToken } = (await post("/v1/channel", { domain: DOMAIN, siweUri: `https://${DOMAIN}/` }))
      .body;
    const channelStatus = async () =>
      (await fetch(`${node.url}/v1/channel/status`, { headers: { authorization: `Bearer ${channelToken}` } }))
        .status;
    expect(await channelStatus()).toBe(202);
    const backups = join(dir.path, "restored-from");
    await svc("--data-dir", dataDir, "backup", "--to", backups);
    const [name = ""] = readdirSync(backups);
    await node.stop();
    const restored = join(dir.path, "restored");
    await svc("--data-dir", restored, "restore", "--from", join(backups, name));
    // A backup has no master key.
    await Bun.write(join(restored, "signers.key"), readFileSync(join(dataDir, "signers.key")));
    node = await start(restored);
    expect(await channelStatus()).toBe(401);
    const { body } = await post("/quick-auth/verify-siwf", unused);
    expect(body).toMatchObject({ valid: false, reason: "invalid_nonce" });
    expect((await verify(token)).status).toBe(400);
    expect((await verify(await newToken())).status).toBe(200);
    expect((await kids()).filter((kid) => before.includes(kid))).toEqual([]);
  });
});
