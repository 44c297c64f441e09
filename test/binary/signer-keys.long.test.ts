import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import { openState, openStateReader, statePath } from "../../src/db/state/database.ts";
import { taskStateDb } from "../../src/db/state/sqlite-state-db.ts";
import { createKeyring } from "../../src/demo/keys.ts";
import type { ManagedSigner } from "../../src/signers/store/signer-store.ts";
import { createSigners } from "../../src/signers/store/signer-table.ts";
import { createVault } from "../../src/signers/vault.ts";
import { createMasterKeyText, readMasterKey } from "../../src/vault/master-key.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { startDemoNode } from "../support/demo-node.ts";
import { IS_LONG } from "../support/long.ts";
import { until } from "../support/manual-time.ts";
import { startNode, tempDir } from "../support/program.ts";
import { GASLESS_REQUEST_DOMAIN, signedKeyRequest } from "../support/signed-key-request.ts";
import { signedHeaders } from "../support/signing.ts";

const SIGNERS = IS_LONG ? 1000 : 40;
/** Four transactions of a rotation, or twenty. */
const ROTATED = IS_LONG ? 10_000 : 2_000;
const OWNER = 3;
const APP = 4;
const USER = 9;
const LIMITS = ["writes_per_minute", "units_per_minute", "burst_units"].flatMap((name) => [
  "--set",
  `api_keys.${name}=1000000`,
]);

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());
const keyring = createKeyring();
const dataDir = join(dir.path, "data");
const nowSecs = () => Math.floor(Date.now() / 1000);
const withKeys = (current: string, ...former: readonly string[]) => ({
  SVC_SIGNERS_ENCRYPTION_KEY: current,
  SVC_SIGNERS_PREVIOUS_ENCRYPTION_KEYS: former.join(","),
});

/** Requests of the owner. Keeps the text of every response but those of exports. */
function ownerOf(url: string, apiKey = "") {
  const responses: string[] = [];
  async function read(response: Response) {
    const text = await response.text();
    responses.push(text);
    return { status: response.status, body: JSON.parse(text) };
  }
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  async function signed(path: string, body: object) {
    const text = JSON.stringify(body);
    const call = { method: "POST", path, body: text, fid: OWNER, signedAt: nowSecs() } as const;
    const own = await signedHeaders({ ...call, wallet: keyring.custody(OWNER) });
    return fetch(`${url}/v2/svc${path}`, { method: "POST", headers: own, body: text });
  }
  return {
    responses,
    signed,
    get: async (path: string) => read(await fetch(url + path, { headers })),
    post: async (path: string, body: object) =>
      read(await fetch(url + path, { method: "POST", headers, body: JSON.stringify(body) })),
    publish: async (signerUuid: string, text: string) => {
      const body = JSON.stringify({ signer_uuid: signerUuid, text });
      return (await fetch(`${url}/v2/farcaster/cast/`, { method: "POST", headers, body })).status;
    },
  };
}

/** Has a demo person approve a signer. */
async function approve(owner: ReturnType<typeof ownerOf>, signer: Record<string, string>) {
  const deadline = nowSecs() + 3600;
  const account = privateKeyToAccount(`0x${Buffer.from(keyring.custody(APP).privateKey).toString("hex")}`);
  const signature = await account.signTypedData(
    signedKeyRequest({
      domain: GASLESS_REQUEST_DOMAIN,
      requestFid: APP,
      key: signer.public_key as `0x${string}`,
      deadline,
    }),
  );
  const { signer_uuid } = signer;
  const pending = await owner.post("/v2/farcaster/signer/signed_key/", {
    signer_uuid,
    app_fid: APP,
    deadline,
    signature,
  });
  const page = new URL(pending.body.signer_approval_url).pathname;
  expect(await owner.post(`${page}/demo`, { fid: USER })).toMatchObject({ status: 200 });
}

/** Runs `serve` until it ends by itself. */
async function serveUntilExit(env: Readonly<Record<string, string>>) {
  const args = ["--data-dir", dataDir, "--port", "0", "--set", "hub.port=-1", "serve"];
  const child = Bun.spawn([...compiledProgram, ...args], { cwd: dir.path, env, stderr: "pipe" });
  const log = await new Response(child.stderr).text();
  return { code: await child.exited, log };
}

function filesUnder(path: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** Returns which of the keys a content has, as bytes, hexadecimal or base64. */
function keysIn(content: Buffer, keys: readonly Buffer[]): number {
  const forms = (key: Buffer) => [key, key.toString("hex"), key.toString("base64").replace(/=$/, "")];
  return keys.filter((key) => forms(key).some((form) => content.includes(form))).length;
}

test("seeds stay sealed, a start needs their master key, and a rotation survives kill -9", async () => {
  // A demo network makes its own key, only for itself.
  const demo = await startDemoNode({ dataDir, args: ["--log-level", "trace", ...LIMITS] });
  const keyFile = join(dataDir, "signers.key");
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
  const first = readFileSync(keyFile, "utf8").trim();
  const { keyId } = readMasterKey(first);
  const creator = ownerOf(demo.url);
  const created = await creator.signed("/api_key", { name: "k", scopes: ["signers", "write"] });
  const { secret } = (await created.json()) as { secret: string };
  const owner = ownerOf(demo.url, secret);
  const signers: Record<string, string>[] = [];
  for (let n = 0; n < SIGNERS; n++) signers.push((await owner.post("/v2/farcaster/signer/", {})).body);
  const [signer = {}] = signers;
  await approve(owner, signer);
  const signerUuid = signer.signer_uuid ?? "";
  expect(await owner.publish(signerUuid, "signed by a sealed key")).toBe(200);

  // The export is the only way out.
  const seeds: Buffer[] = [];
  for (const { signer_uuid } of signers) {
    const response = await owner.signed("/managed_signer/export", { signer_uuid });
    const { private_key } = (await response.json()) as { private_key: string };
    seeds.push(Buffer.from(private_key.slice(2), "hex"));
  }
  expect(new Set(seeds.map((seed) => seed.toString("hex"))).size).toBe(SIGNERS);
  const { body: status } = await owner.get("/status");
  expect(status.signers).toEqual({ key_id: keyId, count_by_key_id: { [keyId]: SIGNERS }, to_reseal: 0 });
  const metrics = await (await fetch(`${demo.url}/metrics`)).text();
  expect(metrics).toContain(`svc_managed_signers{key_id="${keyId}"} ${SIGNERS}\n`);
  const backups = join(dir.path, "backups");
  const backup = Bun.spawn([...compiledProgram, "--data-dir", dataDir, "backup", "--to", backups], {
    stderr: "pipe",
  });
  expect(await backup.exited).toBe(0);
  const contents = [
    ...filesUnder(dataDir).map((path) => ({ name: path, bytes: readFileSync(path) })),
    ...filesUnder(backups).map((path) => ({ name: path, bytes: readFileSync(path) })),
    { name: "log", bytes: Buffer.from(demo.logs()) },
    { name: "responses", bytes: Buffer.from(owner.responses.join("\n") + metrics) },
  ];
  const publicKeys = signers.map(({ public_key = "" }) => Buffer.from(public_key.slice(2), "hex"));
  const found = (keys: readonly Buffer[]) =>
    contents.filter(({ bytes }) => keysIn(bytes, keys) > 0).map(({ name }) => name);
  expect(found(seeds)).toEqual([]);
  // The search finds what is there.
  expect(found(publicKeys).length).toBeGreaterThan(2);
  expect(await demo.stop()).toBe(0);

  // Without the key that the seeds are sealed under, the node starts only without signing.
  const refused = await serveUntilExit(withKeys(createMasterKeyText()));
  expect(refused.code).toBe(1);
  expect(refused.log).toContain(`${keyId} (${SIGNERS} signers)`);
  const locked = await startNode({
    command: compiledProgram,
    dataDir,
    args: ["--set", "signers.enabled=false", ...LIMITS],
  });
  const lockedOwner = ownerOf(locked.url, secret);
  const lookup = await lockedOwner.get(`/v2/farcaster/signer/?signer_uuid=${signerUuid}`);
  expect(lookup.body).toMatchObject({ status: "approved", fid: USER });
  expect(await lockedOwner.publish(signerUuid, "locked")).toBe(503);
  expect(await locked.stop()).toBe(0);

  // A rotation that kill -9 ends in the middle continues with the next start, while the signers sign.
  const second = createMasterKeyText();
  const vault = createVault([readMasterKey(first)]);
  const expected = new Map(signers.map(({ signer_uuid = "" }, n) => [signer_uuid, seeds[n]]));
  await addSigners(ROTATED - SIGNERS, vault, expected);
  const env = { PATH: "", ...withKeys(second, first) };
  const args = ["--data-dir", dataDir, "--port", "0", "--set", "hub.port=-1", "serve"];
  const killed = Bun.spawn([...compiledProgram, ...args], { cwd: dir.path, env, stderr: "ignore" });
  {
    using db = new Database(statePath(dataDir));
    db.run("PRAGMA busy_timeout = 10000");
    const done = db.query<{ n: number }, [string]>(
      "SELECT count(*) AS n FROM managed_signers WHERE key_id = ?",
    );
    const secondId = readMasterKey(second).keyId;
    await until(() => killed.exitCode !== null || (done.get(secondId)?.n ?? 0) > 0);
    // The rotation waits for the lock that the test holds, until it is killed.
    db.run("BEGIN IMMEDIATE");
    killed.kill("SIGKILL");
    await killed.exited;
    db.run("ROLLBACK");
    const left = done.get(keyId)?.n ?? 0;
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThan(ROTATED);
  }
  const rotating = await startNode({
    command: compiledProgram,
    dataDir,
    args: LIMITS,
    env: withKeys(second, first),
  });
  const rotatingOwner = ownerOf(rotating.url, secret);
  let casts = 0;
  for (let left = 1; left > 0; ) {
    expect(await rotatingOwner.publish(signerUuid, `cast ${casts++} of a rotation`)).toBe(200);
    left = (await rotatingOwner.get("/status")).body.signers?.to_reseal ?? 1;
  }
  expect(await rotating.stop()).toBe(0);

  // The first key is not needed any more: every seed is the one it was.
  const renewed = createVault([readMasterKey(second)]);
  using state = openStateReader(statePath(dataDir));
  const stored = await createSigners(taskStateDb(state)).listByOwner(OWNER, { after: 0, limit: ROTATED + 1 });
  expect(stored.length).toBe(ROTATED);
  const changed = stored.filter(
    (row) => !expected.get(row.signerUuid)?.equals(Buffer.from(renewed.open(row))),
  );
  expect(changed).toEqual([]);
}, 600_000);

/** Stores signers of the owner in the state of a stopped node. */
async function addSigners(
  count: number,
  vault: ReturnType<typeof createVault>,
  seeds: Map<string, Buffer | undefined>,
): Promise<void> {
  using state = openState(statePath(dataDir));
  // Each signer is a commit.
  state.sqlite.exec("PRAGMA synchronous = OFF");
  const { create } = createSigners(taskStateDb(state));
  const at = nowSecs();
  const common = { ownerFid: OWNER, permissions: [1], createdAt: at, updatedAt: at };
  const open = { approval: null, request: null, submitted: null };
  for (let n = 0; n < count; n++) {
    const signerUuid = crypto.randomUUID();
    const key = vault.create(signerUuid);
    seeds.set(signerUuid, Buffer.from(vault.open({ signerUuid, ...key })));
    const signer: ManagedSigner = { signerUuid, ...common, ...key, ...open };
    const entry = { atMs: at * 1000, ownerFid: OWNER, apiKeyId: null, hash: null, action: "signer.create" };
    const origin = { outcome: "ok", requestId: "", address: "" };
    await create(signer, ROTATED, { ...entry, signerUuid, userFid: null, ...origin });
  }
}
