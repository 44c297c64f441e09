import { afterAll, beforeAll, expect, test } from "bun:test";
import { nowSecs, systemClock } from "../../src/runtime/clock.ts";
import { sdkClient, sdkError } from "../api/compat/sdk.ts";
import { newSessionKey } from "../support/sessions.ts";
import { signedHeaders } from "../support/signing.ts";
import { custodyKey, type ManagementNode, startManagementNode } from "./management-node.ts";

const OWNER = 3;

let node: ManagementNode;
beforeAll(async () => {
  node = await startManagementNode();
}, 180_000);
afterAll(() => node[Symbol.asyncDispose]());

interface KeyJson {
  readonly api_key_id: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly active: boolean;
  readonly app_id: string | null;
  readonly units_per_minute: number;
}

const read = (apiKey: string) => sdkClient(node.url, { apiKey }).fetchBulkUsers({ fids: [OWNER] });

test("only the text of a key is on stdout, once; list, get and update do not contain it", async () => {
  const created = await node.as(OWNER, ["api-key", "create", "--name", "bot ☕", "--scopes", "read,write"]);
  expect(created.exitCode).toBe(0);
  const secret = created.out.trim();
  expect(created.out).toMatch(/^svc_[1-9A-HJ-NP-Za-km-z]{8}_[1-9A-HJ-NP-Za-km-z]{44}\n$/);
  expect(created.errors).toContain("bot ☕");
  expect(created.errors).not.toContain(secret);
  const { api_keys: keys } = (await node.json(OWNER, ["api-key", "list"])) as unknown as {
    api_keys: KeyJson[];
  };
  expect(keys).toHaveLength(1);
  const id = keys[0]?.api_key_id ?? "";
  const update = ["api-key", "update", id, "--units-per-minute", "50", "--scopes", "read"];
  const outputs = [
    await node.as(OWNER, ["api-key", "list"]),
    await node.as(OWNER, ["api-key", "get", id]),
    await node.as(OWNER, update),
  ];
  for (const { exitCode, out, errors } of outputs) {
    expect({ exitCode, errors }).toEqual({ exitCode: 0, errors: "" });
    expect(out).toContain(secret.slice(0, 12));
    expect(out).not.toContain(secret.slice(13));
  }
  expect(outputs[2]?.out).toMatch(/units_per_minute +50\n/);
  expect((await read(secret)).users).toHaveLength(1);
});

test("a key is rotated, deactivated, activated and deleted", async () => {
  const fields = ["--name", "k", "--scopes", "read"];
  const first = (await node.as(OWNER, ["api-key", "create", ...fields])).out.trim();
  const listed = (await node.json(OWNER, ["api-key", "list"])) as unknown as { api_keys: KeyJson[] };
  const id = listed.api_keys.at(-1)?.api_key_id ?? "";
  const second = (await node.as(OWNER, ["api-key", "rotate", id, "--grace-secs", "0"])).out.trim();
  expect((await sdkError(read(first))).status).toBe(401);
  expect((await read(second)).users).toHaveLength(1);
  const changed = async (...args: string[]) =>
    ((await node.json(OWNER, ["api-key", "update", id, ...args])) as unknown as { api_key: KeyJson }).api_key;
  expect(await changed("--no-active")).toMatchObject({ active: false });
  expect((await sdkError(read(second))).status).toBe(401);
  expect(await changed("--active", "--no-app", "--no-units-per-minute")).toMatchObject({
    active: true,
    app_id: null,
    units_per_minute: 60_000,
  });
  expect((await node.as(OWNER, ["api-key", "update", id])).errors).toContain("nothing to change");
  expect((await node.as(OWNER, ["api-key", "usage", id])).exitCode).toBe(0);
  expect((await node.as(OWNER, ["api-key", "delete", id])).out).toBe(`deleted ${id}\n`);
  expect((await sdkError(read(second))).status).toBe(401);
  expect((await node.as(4, ["api-key", "get", id])).errors).toContain("404");
});

test("sessions are listed and ended, one or all", async () => {
  const create = async (label: string) => {
    const body = JSON.stringify(newSessionKey({ label }).body);
    const wallet = { privateKey: Buffer.from(custodyKey(OWNER).slice(2), "hex"), address: new Uint8Array() };
    const call = { method: "POST", path: "/session", body, fid: OWNER, wallet } as const;
    const headers = await signedHeaders({ ...call, signedAt: nowSecs(systemClock) });
    const response = await fetch(`${node.url}/v2/svc/session`, { method: "POST", body, headers });
    return ((await response.json()) as { session: { session_id: string } }).session.session_id;
  };
  const [first] = [await create("Laptop"), await create("Phone"), await create("Tablet")];
  const labels = async () =>
    (
      (await node.json(OWNER, ["session", "list"])) as unknown as { sessions: { label: string }[] }
    ).sessions.map(({ label }) => label);
  expect(await labels()).toEqual(["Tablet", "Phone", "Laptop"]);
  expect((await node.as(OWNER, ["session", "end"])).errors).toContain("give either a session_id or --all");
  expect(await node.as(OWNER, ["session", "end", first])).toMatchObject({ exitCode: 0, out: "ended\n" });
  expect(await labels()).toEqual(["Tablet", "Phone"]);
  expect((await node.as(OWNER, ["session", "end", first])).exitCode).not.toBe(0);
  expect((await node.as(OWNER, ["session", "end", "--all"])).exitCode).toBe(0);
  expect(await labels()).toEqual([]);
});
