import { join } from "node:path";
import { Message } from "../../src/protocol/wire/generated/message.ts";
import { createDatabase, type PostgresDatabase } from "./postgres/database.ts";
import type { PostgresAddress } from "./postgres/server.ts";
import { type RunningNode, startNode, tempDir } from "./program.ts";
import { type Method, signedHeaders } from "./signing.ts";
import { makeChain } from "./upstream/chain.ts";
import { dataOf } from "./upstream/hub-events.ts";
import { UpstreamNode } from "./upstream/node.ts";
import type { Action } from "./upstream/script.ts";
import { type Submitted, UpstreamServer } from "./upstream/server.ts";

/** Blocks of long ago, in which the fids join and act. */
const HISTORY = 20;
const TICK_MS = 500;
/** Also on a busy machine. */
const READY_MS = 40_000;

export interface TestClusterOptions {
  /** Names the history of the followed network. */
  readonly seed: string;
  readonly command: readonly string[];
  /** A server of the test's own, which it may kill. */
  readonly server?: PostgresAddress;
}

/**
 * A database and a followed network that continues, for real nodes in processes of their own. What is submitted to a node is in the next block.
 */
export interface TestCluster extends AsyncDisposable {
  readonly database: PostgresDatabase;
  /** The settings of a node, as arguments. Later ones replace earlier ones. */
  argsOf(name: string, ...settings: readonly string[]): string[];
  /** Starts a node, which keeps its data directory over restarts. Resolves when it is ready. */
  start(name: string, ...settings: readonly string[]): Promise<RunningNode>;
  /** Sends actions to the network, with the next block. */
  act(actions: readonly Action[]): void;
}

export async function startCluster({ seed, command, server }: TestClusterOptions): Promise<TestCluster> {
  const database = await createDatabase({ isEmpty: true, ...(server ? { server } : {}) });
  const dir = tempDir();
  const chain = makeChain(seed, HISTORY);
  const upstream = new UpstreamNode(chain);
  const followed = new UpstreamServer(upstream);
  let waiting: readonly Action[] = [];
  const tick = () => {
    const at = Math.floor(Date.now() / 1000);
    if (at <= chain.endsAt) return;
    chain.add({ at, actions: [...waiting, ...followed.submitted.splice(0).map(submitAction)] });
    waiting = [];
    upstream.produce(chain.ticks.length);
  };
  tick();
  await followed.start();
  const ticking = setInterval(tick, TICK_MS);
  const running: RunningNode[] = [];
  const argsOf: TestCluster["argsOf"] = (name, ...settings) =>
    [
      `data.dir=${join(dir.path, name)}`,
      `state.url=${database.url}`,
      `upstream.url=${followed.url}`,
      // The scripted network has no validators.
      "trust.level=node",
      `node.id=${name}`,
      "http.workers=1",
      // Receivers and clients of the tests are on this machine.
      "net.allow_http=true",
      "net.allow_cidrs=127.0.0.0/8,::1/128",
      ...settings,
    ].flatMap((setting) => ["--set", setting]);
  return {
    database,
    argsOf,
    async start(name, ...settings) {
      const dataDir = join(dir.path, name);
      const node = await startNode({ command, dataDir, args: argsOf(name, ...settings) });
      running.push(node);
      try {
        await until(async () => (await fetch(`${node.url}/ready`)).ok, `${name} is ready`, READY_MS);
      } catch (cause) {
        await node.kill();
        throw cause;
      }
      return node;
    },
    act(actions) {
      waiting = [...waiting, ...actions];
    },
    async [Symbol.asyncDispose]() {
      clearInterval(ticking);
      await Promise.all(running.map((node) => node[Symbol.asyncDispose]()));
      followed.stop();
      await database[Symbol.asyncDispose]();
      dir[Symbol.dispose]();
    },
  };
}

function submitAction({ message }: Submitted): Action {
  const bytes = Message.encode(message).finish();
  return { fid: dataOf(message).fid, record: { kind: "message", bytes } };
}

/** Resolves when a condition holds. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  withinMs = 60_000,
): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not in time: ${what}`);
    await Bun.sleep(20);
  }
}

/** A request that is signed by the custody address of a fid of the followed network. */
export async function signedRequest(
  fid: number,
  method: Method,
  path: string,
  body?: object,
): Promise<(node: { readonly url: string }) => Promise<Response>> {
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  const headers = await signedHeaders({
    method,
    path,
    fid,
    signedAt: Math.floor(Date.now() / 1000),
    ...text,
  });
  return (node) => fetch(`${node.url}/v2/svc${path}`, { method, headers, keepalive: false, ...text });
}

/** Sends a signed request once. */
export async function callSigned(
  node: { readonly url: string },
  fid: number,
  method: Method,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: Record<string, unknown>; readonly headers: Headers }> {
  const send = await signedRequest(fid, method, path, body);
  const response = await send(node);
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>,
  };
}
