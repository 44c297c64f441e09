import { Database } from "bun:sqlite";
import { rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, credentials } from "@grpc/grpc-js";
import { indexPath } from "../src/db/index/database.ts";
import { FidRequest } from "../src/protocol/wire/generated/state.ts";
import { compileInto, DIST, startNode } from "../test/support/program.ts";
import type { Figure } from "./main.ts";
import { benchNetwork } from "./network.ts";
import { cpuMicrosOf, median } from "./start.ts";
import { runWrk } from "./wrk.ts";

const PAGE_SIZE = 100;
const USERS = 50;
const RUNS = 5;
const CALLS = 1500;
const WARM_UP_CALLS = 500;
const CONCURRENT_CALLS = 16;
const CONNECTIONS = 32;
const RUN_SECS = 1;
const GRPC_GOAL = 0.5;
const HTTP_GOAL = 0.15;

interface Server {
  readonly address: string;
  readonly pid: number;
}

interface Run {
  readonly rate: number;
  /** CPU time of the server per request. Other load on the machine affects it less than the rate. */
  readonly cpuMicros: number;
}

/**
 * Measures pages of 100 casts of an fid, over gRPC and as JSON, compared with bare servers that send the same bytes,
 * interleaved. The node is the compiled binary with one HTTP worker. `cached` is the response cache of HTTP; gRPC has none.
 */
export async function benchHub(): Promise<Figure[]> {
  const network = benchNetwork(Number(process.env.BENCH_MESSAGES ?? 1_000_000));
  const fids = prolificUsers(network.dataDir);
  const args = ["--set", "http.workers=1"];
  await using node = await startNode({ command: [await compileInto(DIST)], dataDir: network.dataDir, args });
  return [
    ...(await benchGrpc({ address: node.hubAddress, pid: node.pid }, fids)),
    ...(await benchHttp({ address: node.url, pid: node.pid }, fids)),
  ];
}

async function benchGrpc(node: Server, fids: readonly number[]): Promise<Figure[]> {
  const requests = fids.map((fid) => Buffer.from(FidRequest.encode({ ...NO_PAGE, fid }).finish()));
  const recorded: Record<string, string> = {};
  using toNode = connect(node.address);
  for (const request of requests)
    recorded[request.toString("hex")] = (await toNode.call(request)).toString("hex");
  await using bare = await startBare("bare-grpc-server.ts", recorded);
  using toBare = connect(bare.address);
  const load = async (server: Server, client: GrpcClient, calls: number): Promise<Run> => {
    const cpuBefore = cpuMicrosOf(server.pid);
    const startedMs = performance.now();
    let next = 0;
    const work = async () => {
      while (next < calls) await client.call(requests[next++ % requests.length] ?? Buffer.alloc(0));
    };
    await Promise.all(Array.from({ length: CONCURRENT_CALLS }, work));
    return {
      rate: (calls * 1000) / (performance.now() - startedMs),
      cpuMicros: (cpuMicrosOf(server.pid) - cpuBefore) / calls,
    };
  };
  const runs = { bare: [] as Run[], node: [] as Run[] };
  for (const [server, client] of [
    [bare, toBare],
    [node, toNode],
  ] as const)
    await load(server, client, WARM_UP_CALLS);
  for (let run = 0; run < RUNS; run++) {
    runs.bare.push(await load(bare, toBare, CALLS));
    runs.node.push(await load(node, toNode, CALLS));
  }
  const bytes = Object.values(recorded).reduce((sum, { length }) => sum + length / 2, 0) / requests.length;
  return figuresOf(`GetCastsByFid of ${PAGE_SIZE}`, runs.node, runs.bare, bytes, GRPC_GOAL);
}

async function benchHttp(node: Server, fids: readonly number[]): Promise<Figure[]> {
  const paths = fids.map((fid) => `/v1/castsByFid?fid=${fid}&pageSize=${PAGE_SIZE}`);
  const bodies: Record<string, string> = {};
  for (const path of paths) bodies[path] = await (await fetch(node.address + path)).text();
  await using bare = await startBare("bare-server.ts", bodies);
  const bareUrl = { address: `http://${bare.address}`, pid: bare.pid };
  const load = async (server: Server, isUncached: boolean): Promise<Run> => {
    const cpuBefore = cpuMicrosOf(server.pid);
    const { requestsPerSec, errors } = await runWrk({
      origin: server.address,
      paths,
      connections: CONNECTIONS,
      durationSecs: RUN_SECS,
      isUncached,
    });
    if (errors > 0) throw new Error(`${errors} requests failed`);
    return {
      rate: requestsPerSec,
      cpuMicros: (cpuMicrosOf(server.pid) - cpuBefore) / (requestsPerSec * RUN_SECS),
    };
  };
  const runs = { bare: [] as Run[], cached: [] as Run[], uncached: [] as Run[] };
  for (const server of [bareUrl, node]) await load(server, true);
  for (let run = 0; run < RUNS; run++) {
    runs.bare.push(await load(bareUrl, true));
    runs.cached.push(await load(node, false));
    runs.uncached.push(await load(node, true));
  }
  const bytes = Object.values(bodies).reduce((sum, { length }) => sum + length, 0) / paths.length;
  return (["cached", "uncached"] as const).flatMap((kind) =>
    figuresOf(`/v1/castsByFid of ${PAGE_SIZE}, ${kind}`, runs[kind], runs.bare, bytes, HTTP_GOAL),
  );
}

const NO_PAGE = { pageSize: PAGE_SIZE, pageToken: undefined, reverse: undefined };

function figuresOf(
  what: string,
  runs: readonly Run[],
  bareRuns: readonly Run[],
  bytes: number,
  goal: number,
): Figure[] {
  const of = `a bare server with the same ${Math.round(bytes).toLocaleString("en")} bytes, goal ${goal}`;
  const rateOf = (all: readonly Run[]) => median(all.map(({ rate }) => rate));
  const cpuOf = (all: readonly Run[]) => median(all.map(({ cpuMicros }) => cpuMicros));
  return [
    { what, value: rateOf(runs), unit: "requests/s", ratio: { of, value: rateOf(runs) / rateOf(bareRuns) } },
    {
      what: "  CPU time per request",
      value: cpuOf(runs),
      unit: "us",
      ratio: {
        of: "requests of a bare server in the same CPU time",
        value: cpuOf(bareRuns) / cpuOf(runs),
      },
    },
  ];
}

/** Returns the users with the most casts. */
function prolificUsers(dataDir: string): number[] {
  using db = new Database(indexPath(dataDir), { readonly: true });
  const rows = db.query<{ fid: number }, [number]>(
    "SELECT fid FROM casts GROUP BY fid ORDER BY count(*) DESC LIMIT ?",
  );
  return rows.all(USERS).map(({ fid }) => fid);
}

interface GrpcClient extends Disposable {
  call(request: Buffer): Promise<Buffer>;
}

function connect(address: string): GrpcClient {
  const client = new Client(address, credentials.createInsecure());
  const unchanged = (bytes: Buffer) => bytes;
  return {
    call(request) {
      const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
      client.makeUnaryRequest(
        "/HubService/GetCastsByFid",
        unchanged,
        unchanged,
        request,
        (fault, response) => (fault ? reject(fault) : resolve(response ?? Buffer.alloc(0))),
      );
      return promise;
    },
    [Symbol.dispose]: () => client.close(),
  };
}

async function startBare(script: string, responses: object): Promise<AsyncDisposable & Server> {
  const file = join(tmpdir(), `bare-${process.pid}-${script}.json`);
  await Bun.write(file, JSON.stringify(responses));
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "processes", script), file], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return {
    pid: child.pid,
    address: `127.0.0.1:${new TextDecoder().decode(value).trim()}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.exited;
      rmSync(file, { force: true });
    },
  };
}
