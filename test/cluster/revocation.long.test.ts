import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { callSigned, startCluster, type TestCluster, until } from "../support/cluster.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { IS_LONG } from "../support/long.ts";
import { type PostgresProxy, startProxy } from "../support/postgres/proxy.ts";
import { HAS_POSTGRES } from "../support/postgres/server.ts";
import type { RunningNode } from "../support/program.ts";

/** What a node serves under an API key that was deleted at another one, while it hardly reaches PostgreSQL. */

const FID = 3;
/** The share of a slow way in each direction: a statement takes two seconds. */
const DELAY_MS = 1_000;

describe.skipIf(!HAS_POSTGRES || !IS_LONG)("an API key that is deleted at one of two nodes", () => {
  let cluster: TestCluster;
  let proxy: PostgresProxy;
  let a: RunningNode;
  let b: RunningNode;

  beforeAll(async () => {
    cluster = await startCluster({ seed: "a node that does not reach PostgreSQL", command: compiledProgram });
    const url = new URL(cluster.database.url);
    proxy = startProxy(Number(url.port));
    url.port = String(proxy.port);
    a = await cluster.start("a");
    b = await cluster.start("b", `state.url=${url.href}`);
  }, 180_000);
  afterAll(async () => {
    proxy?.heal();
    await cluster?.[Symbol.asyncDispose]();
    await proxy?.[Symbol.asyncDispose]();
  });

  const read = async (node: RunningNode, key: string) => {
    const headers = { "x-api-key": key };
    const response = await fetch(`${node.url}/v2/farcaster/user/bulk/?fids=${FID}`, {
      headers,
      keepalive: false,
    });
    await response.bytes();
    return response.status;
  };
  /** The time of PostgreSQL, and the end of the lease that B has by its last beat, unix ms. */
  const leaseOfB = async () => {
    const [row] = await cluster.database.query(
      `SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now, ends_at_ms AS ends
       FROM svc.nodes WHERE node_id = 'b'`,
    );
    return { now: Number(row?.now), ends: Number(row?.ends) };
  };

  test.each([
    ["slow", () => proxy.slow(DELAY_MS)],
    ["frozen", () => proxy.freeze()],
    ["cut", () => proxy.cut()],
  ])(
    "reads nothing at the other once that is said, nor after that node's lease, while its way to PostgreSQL is %s",
    async (how, fail) => {
      const made = await callSigned(a, FID, "POST", "/api_key", { name: `Key ${how}`, scopes: ["read"] });
      const key = String(made.body.secret);
      const { api_key_id: id } = made.body.api_key as { api_key_id: string };
      expect(await read(b, `${key.slice(0, -1)}_`)).toBe(401);
      await until(async () => (await read(b, key)) === 200, "B reads by the key");
      fail();
      const reads: { readonly at: number; readonly leaseEnds: number; readonly status: number }[] = [];
      let isOver = false;
      const reading = (async () => {
        while (!isOver) {
          const { now, ends } = await leaseOfB();
          reads.push({ at: now, leaseEnds: ends, status: await read(b, key) });
          await Bun.sleep(50);
        }
      })();
      const deleted = await callSigned(a, FID, "DELETE", `/api_key?api_key_id=${id}`);
      const { now: saidAt } = await leaseOfB();
      // Longer than the lease, so that it has ended or was renewed by a beat.
      await until(async () => (await leaseOfB()).now > saidAt + 9_000, "a lease later");
      isOver = true;
      await reading;
      expect([deleted.status, deleted.body.deleted]).toEqual([200, true]);
      const late = reads.filter(({ at, leaseEnds }) => at > leaseEnds);
      expect(late.filter(({ status }) => status === 200)).toEqual([]);
      const afterwards = reads.filter(({ at }) => at > saidAt);
      expect(afterwards.length).toBeGreaterThan(5);
      // The deletion has waited for B, or for the end of its lease, or says that it has not.
      if (deleted.body.in_effect !== false)
        expect(afterwards.filter(({ status }) => status === 200)).toEqual([]);
      proxy.heal();
      await until(async () => (await read(b, key)) === 401, "B knows that the key is deleted");
    },
    180_000,
  );

  test("reads nothing at a stopped node once that is said and it continues, also by requests that arrived meanwhile", async () => {
    const made = await callSigned(a, FID, "POST", "/api_key", {
      name: "Key of a stopped node",
      scopes: ["read"],
    });
    const key = String(made.body.secret);
    const { api_key_id: id } = made.body.api_key as { api_key_id: string };
    const hasLease = async () => {
      const { now, ends } = await leaseOfB();
      return ends > now;
    };
    await until(hasLease, "B has a lease again");
    await until(async () => (await read(b, key)) === 200, "B reads by the key");
    process.kill(b.pid, "SIGSTOP");
    try {
      const deleted = await callSigned(a, FID, "DELETE", `/api_key?api_key_id=${id}`);
      expect(deleted.body).toEqual({ deleted: true });
      // The deletion has waited for it.
      expect(await hasLease()).toBe(false);
      const waiting = await Promise.all(Array.from({ length: 10 }, () => sendRead(b, key)));
      process.kill(b.pid, "SIGCONT");
      for (const status of await Promise.all(waiting.map(({ status }) => status)))
        expect(status).toMatch(/^HTTP\/1.1 4(01|29) /);
    } finally {
      process.kill(b.pid, "SIGCONT");
    }
  }, 60_000);
});

/** Sends a read by a key. Resolves once it is at the node's machine, whether or not the node runs. */
async function sendRead({ url }: RunningNode, key: string): Promise<{ readonly status: Promise<string> }> {
  const { hostname, port, host } = new URL(url);
  const status = Promise.withResolvers<string>();
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data: (_, bytes) => status.resolve(bytes.toString().split("\r\n", 1)[0] ?? ""),
      close: () => status.reject(new Error("the node closed the connection without a response")),
      error: (_, cause) => status.reject(cause),
    },
  });
  const lines = [
    `GET /v2/farcaster/user/bulk/?fids=${FID} HTTP/1.1`,
    `Host: ${host}`,
    `x-api-key: ${key}`,
    "Connection: close",
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return { status: status.promise };
}
