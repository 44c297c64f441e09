import { compiledProgram } from "./compiled-program.ts";
import { type RunningNode, startNode, tempDir } from "./program.ts";
import { randomNonce, type SignedCall, signedHeaders } from "./signing.ts";
import { makeChain } from "./upstream/chain.ts";
import { UpstreamNode } from "./upstream/node.ts";
import { UpstreamServer } from "./upstream/server.ts";

/** The seed of a network of 7 fids, none of which changes its owner: `custodyWallet(fid)` signs. */
const SEED = "a node that follows";
const HISTORY = 8;
/** The scripted network stands still while a test runs. */
const READY_LAG_SECS = 3_600;

export interface ClusterResponse {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any;
}

export type ClusterCall = Omit<SignedCall, "fid" | "signedAt" | "body"> & {
  readonly fid?: number;
  readonly body?: object;
};

/** A signed request that can be sent any number of times, to any node. */
export type SignedRequest = (node: Pick<RunningNode, "url">) => Promise<ClusterResponse>;

/** Processes of the program that follow one scripted network and share one state in PostgreSQL. */
export interface TestCluster extends AsyncDisposable {
  readonly upstreamUrl: string;
  /** Starts a node over a new data directory. Resolves when it is ready. */
  start(nodeId: string, stateUrl: string, settings?: readonly string[]): Promise<RunningNode>;
  /** The arguments of a node, for one that is expected to fail. */
  args(nodeId: string, stateUrl: string, settings?: readonly string[]): string[];
}

/** Starts the network. */
export async function startTestCluster(): Promise<TestCluster> {
  const chain = makeChain(SEED, HISTORY);
  const upstream = new UpstreamNode(chain);
  upstream.produce(HISTORY);
  /** A node that has filled its index is ready with the next block. */
  const produce = () => {
    chain.add({ at: Math.floor(Date.now() / 1000), actions: [] });
    upstream.produce(chain.ticks.length);
  };
  const server = new UpstreamServer(upstream);
  await server.start();
  const dirs: Disposable[] = [];
  const nodes: RunningNode[] = [];
  const args = (nodeId: string, stateUrl: string, settings: readonly string[] = []) =>
    [
      `node.id=${nodeId}`,
      `state.url=${stateUrl}`,
      `upstream.url=${server.url}`,
      `upstream.ready_lag_secs=${READY_LAG_SECS}`,
      "http.workers=1",
      ...settings,
    ].flatMap((setting) => ["--set", setting]);
  return {
    upstreamUrl: server.url,
    args,
    async start(nodeId, stateUrl, settings) {
      const dir = tempDir();
      dirs.push(dir);
      const node = await startNode({
        command: compiledProgram,
        dataDir: dir.path,
        args: args(nodeId, stateUrl, settings),
      });
      nodes.push(node);
      for (;;) {
        const response = await fetch(`${node.url}/ready`);
        if (response.status === 200) break;
        if ((await response.text()).includes("no block of shard")) produce();
        await Bun.sleep(100);
      }
      return node;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
      server.stop();
      for (const dir of dirs) dir[Symbol.dispose]();
    },
  };
}

/** Signs a request of fid 3, now. */
export async function sign(call: ClusterCall): Promise<SignedRequest> {
  const body = call.body === undefined ? "" : JSON.stringify(call.body);
  const signedAt = Math.floor(Date.now() / 1000);
  const headers = await signedHeaders({ fid: 3, nonce: randomNonce(), ...call, signedAt, body });
  return (node) =>
    request(node, call.path, { method: call.method, headers, ...(body === "" ? {} : { body }) });
}

/** Signs a request and sends it to a node. */
export async function call(node: Pick<RunningNode, "url">, signed: ClusterCall): Promise<ClusterResponse> {
  return (await sign(signed))(node);
}

/** Sends a request below `/v2/svc`. */
export async function request(
  node: Pick<RunningNode, "url">,
  path: string,
  init: RequestInit = {},
): Promise<ClusterResponse> {
  const response = await fetch(`${node.url}/v2/svc${path}`, init);
  return { status: response.status, headers: response.headers, body: await response.json() };
}
