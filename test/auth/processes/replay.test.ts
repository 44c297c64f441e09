import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { openState, type StateDatabase, statePath } from "../../../src/db/state/database.ts";
import { registerEvent } from "../../support/events.ts";
import { startTestNode, type TestNode } from "../../support/node.ts";
import { startSignedApi } from "../../support/signed-api.ts";
import { custodyWallet, type SignedCall, signedHeaders } from "../../support/signing.ts";

let node: TestNode;
let state: StateDatabase;
const processes: ServerProcess[] = [];
beforeAll(() => {
  node = startTestNode();
  for (const fid of [3, 4, 5]) {
    node.ingestEvent(registerEvent(fid, custodyWallet(fid).address, { block: 1000 + fid }));
  }
  state = openState(statePath(node.dir));
});
afterEach(async () => {
  for (const server of processes.splice(0)) await server.kill();
});
afterAll(() => {
  state[Symbol.dispose]();
  node[Symbol.dispose]();
});

interface ServerProcess {
  readonly url: string;
  /** SIGKILL: the process cannot write anything more. */
  kill(): Promise<void>;
}

async function startProcess(): Promise<ServerProcess> {
  const script = join(import.meta.dir, "serve-signed.ts");
  const child = Bun.spawn([process.execPath, script, node.dir], { stdout: "pipe", stderr: "inherit" });
  const { value } = await child.stdout.getReader().read();
  const started = {
    url: Buffer.from(value ?? [])
      .toString()
      .trim(),
    async kill() {
      child.kill("SIGKILL");
      await child.exited;
    },
  };
  processes.push(started);
  return started;
}

function appCreation(fid: number, n = 0): SignedCall {
  const body = JSON.stringify({ name: `App ${n}`, app_url: "https://93.184.216.34/" });
  return { method: "POST", path: "/frame/app", fid, body, signedAt: Math.floor(Date.now() / 1000) };
}

async function send(url: string, call: SignedCall, headers: Record<string, string>): Promise<number> {
  const { method, path, body = "" } = call;
  const response = await fetch(`${url}/v2/svc${path}`, { method, headers, body });
  await response.arrayBuffer();
  return response.status;
}

const countOf = (statuses: readonly number[], status: number) =>
  statuses.filter((other) => other === status).length;

const rows = (table: "apps" | "nonces" | "secrets", fid?: number) =>
  state.sqlite
    .query<{ n: number }, []>(`SELECT count(*) AS n FROM ${table}${fid ? ` WHERE owner_fid = ${fid}` : ""}`)
    .get()?.n;

test("accepts exactly one of 50 concurrent copies of a request sent to two processes", async () => {
  const servers = [await startProcess(), await startProcess()];
  const call = appCreation(3);
  const headers = await signedHeaders(call);
  const copies = Array.from({ length: 50 }, (_, n) => send(servers[n % 2]?.url ?? "", call, headers));
  const statuses = await Promise.all(copies);
  expect([countOf(statuses, 200), countOf(statuses, 401)]).toEqual([1, 49]);
  expect(rows("apps", 3)).toBe(1);
  expect(rows("nonces")).toBe(1);
}, 180_000);

test("rejects, after kill -9 and a restart, a request that was accepted before", async () => {
  const call = appCreation(4);
  const headers = await signedHeaders(call);
  const before = await startProcess();
  expect(await send(before.url, call, headers)).toBe(200);
  await before.kill();
  const after = await startProcess();
  expect(await send(after.url, call, headers)).toBe(401);
  expect(rows("apps", 4)).toBe(1);
}, 180_000);

test("accepts 5 of 40 concurrent creations on two processes with 20 existing records", async () => {
  const servers = [await startProcess(), await startProcess()];
  const creations = await Promise.all(
    Array.from({ length: 60 }, async (_, n) => {
      const call = appCreation(5, n);
      return { call, headers: await signedHeaders(call) };
    }),
  );
  const spent = rows("nonces") ?? 0;
  const sendAll = (some: typeof creations) =>
    Promise.all(some.map(({ call, headers }, n) => send(servers[n % 2]?.url ?? "", call, headers)));
  expect(countOf(await sendAll(creations.slice(0, 20)), 200)).toBe(20);
  const statuses = await sendAll(creations.slice(20));
  expect([countOf(statuses, 200), countOf(statuses, 429)]).toEqual([5, 35]);
  expect(rows("apps", 5)).toBe(25);
  expect(rows("nonces")).toBe(spent + 60);
}, 180_000);

test("accepts exactly one of 50 concurrent copies within one process, also of a read", async () => {
  await using signed = await startSignedApi();
  const call = { method: "GET", path: "/frame/app/list" } as const;
  const headers = await signed.sign(call);
  const responses = await Promise.all(Array.from({ length: 50 }, () => signed.send(call, headers)));
  expect(responses.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(responses.filter(({ status }) => status === 401)).toHaveLength(49);
  expect(signed.rowCounts().nonces).toBe(1);
});

test("rejects a repeated request while its time is valid", async () => {
  await using signed = await startSignedApi();
  const { clock } = signed.api.node;
  // The latest accepted time gives a request its longest life: two windows.
  const call = { method: "GET", path: "/frame/app/list", signedAt: signed.nowSecs() + 300 } as const;
  const headers = await signed.sign(call);
  expect((await signed.send(call, headers)).status).toBe(200);
  clock.advanceSecs(600);
  expect((await signed.send(call, headers)).body).toEqual({ message: "nonce was used before" });
  clock.advanceSecs(1);
  expect((await signed.send(call, headers)).body.message).toStartWith("signed at more than 300 seconds");
  expect(signed.rowCounts().nonces).toBe(1);
});
