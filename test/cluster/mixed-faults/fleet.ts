import type { Random } from "../../../src/demo/random.ts";
import { valueWithin } from "../../../src/lib/promises.ts";
import { type TestCluster, until } from "../../support/cluster.ts";
import { type PostgresProxy, startProxy } from "../../support/postgres/proxy.ts";
import type { RunningNode } from "../../support/program.ts";

/** Of two faults in a row: each of a request's decisions has 7 seconds by default. The rest is for a busy machine. */
const SLOWEST_MS = 17_000;
/** Responses of nodes that are not stopped come long before. */
const GIVE_UP_MS = 45_000;
const RESTART_MS = 90_000;

/** What a client knows after a request: it succeeded, it was refused, or neither is certain. */
export type Outcome = "done" | "refused" | "unknown";

export interface Answer {
  readonly outcome: Outcome;
  readonly status: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape
  readonly body: any;
}

export const UNKNOWN: Answer = { outcome: "unknown", status: undefined, body: undefined };

export interface FleetNode {
  readonly name: string;
  /** Its way to PostgreSQL. */
  readonly proxy: PostgresProxy;
  /** Undefined while it is down. */
  running: RunningNode | undefined;
  isStopped: boolean;
  /** Counts kills and stops: a request over which it changes may take any time. */
  faults: number;
  /** A fault of it is under way. */
  isTaken: boolean;
}

/** Nodes that are killed, stopped and started again under requests. */
export interface Fleet extends AsyncDisposable {
  readonly nodes: readonly FleetNode[];
  /** Responses that no client should get, and requests that took too long. */
  readonly problems: string[];
  /** The longest request to a node that was neither killed nor stopped meanwhile. */
  readonly slowestMs: number;
  /** When a stopped node continued, unix ms: what it had on its way may come again. */
  readonly wokenAtMs: readonly number[];
  /** Sends a request to a node that is up, if necessary when one is. `mayWait`: for more than the state. */
  ask(
    request: (node: RunningNode) => Promise<Response>,
    options?: { readonly mayWait: boolean },
  ): Promise<Answer>;
  /** The same, for requests that are not HTTP. */
  call(
    request: (node: RunningNode) => Promise<Answer>,
    options?: { readonly mayWait: boolean },
  ): Promise<Answer>;
  start(node: FleetNode): Promise<void>;
  kill(node: FleetNode): Promise<void>;
  stop(node: FleetNode): void;
  wake(node: FleetNode): void;
}

export async function startFleet(
  cluster: TestCluster,
  options: {
    readonly names: readonly string[];
    readonly settings: readonly string[];
    readonly random: Random;
  },
): Promise<Fleet> {
  const { names, settings, random } = options;
  const problems: string[] = [];
  const wokenAtMs: number[] = [];
  let slowestMs = 0;
  const port = Number(new URL(cluster.database.url).port);
  const nodes = names.map((name): FleetNode => {
    return { name, proxy: startProxy(port), running: undefined, isStopped: false, faults: 0, isTaken: false };
  });

  /** Starts a node as a supervisor does: again and again, as long as PostgreSQL does not let it. */
  async function start(node: FleetNode): Promise<void> {
    const url = new URL(cluster.database.url);
    url.port = String(node.proxy.port);
    const endsAtMs = Date.now() + RESTART_MS;
    for (;;) {
      try {
        const running = await cluster.start(node.name, `state.url=${url.href}`, ...settings);
        void running.exited.then((code) => {
          if (node.running !== running) return;
          node.running = undefined;
          problems.push(`${node.name} ended by itself with ${code}: ${running.logs().slice(-2_000)}`);
        });
        node.running = running;
        return;
      } catch (cause) {
        if (Date.now() > endsAtMs) throw cause;
        await Bun.sleep(200);
      }
    }
  }

  const up = () => nodes.filter(({ running }) => running !== undefined);

  const call: Fleet["call"] = async (request, { mayWait } = { mayWait: false }) => {
    await until(() => up().length > 0, "a node is up", RESTART_MS);
    const node = random.pick(up());
    const { faults, running } = node;
    const startedAtMs = performance.now();
    let why = "in time";
    const asked = request(running as RunningNode).catch((cause) => {
      why = `: ${cause}`;
      return UNKNOWN;
    });
    const answer = (await valueWithin(asked, GIVE_UP_MS)) ?? UNKNOWN;
    const tookMs = performance.now() - startedAtMs;
    if (node.faults === faults && !mayWait) {
      slowestMs = Math.max(slowestMs, tookMs);
      if (tookMs > SLOWEST_MS) problems.push(`${node.name} took ${Math.round(tookMs)} ms`);
      if (answer === UNKNOWN) problems.push(`${node.name} gave no answer ${why}`);
    }
    return answer;
  };

  await Promise.all(nodes.map(start));
  return {
    nodes,
    problems,
    wokenAtMs,
    get slowestMs() {
      return slowestMs;
    },
    start,
    call,
    ask: (request, options) =>
      call(async (node) => {
        const response = await request(node);
        const text = await response.text();
        const { status } = response;
        if (status === 400 || (status >= 500 && status !== 503))
          problems.push(`${response.url}: ${status} ${text}`);
        if (status === 503 && !response.headers.has("retry-after"))
          problems.push(`${response.url}: no Retry-After: ${text}`);
        const outcome = status < 300 ? "done" : status < 500 ? "refused" : "unknown";
        return { outcome, status, body: JSON.parse(text) };
      }, options),
    async kill(node) {
      const { running } = node;
      node.faults += 1;
      node.running = undefined;
      await running?.kill();
    },
    stop(node) {
      node.faults += 1;
      node.isStopped = true;
      process.kill(node.running?.pid ?? 0, "SIGSTOP");
    },
    wake(node) {
      wokenAtMs.push(Date.now());
      process.kill(node.running?.pid ?? 0, "SIGCONT");
      node.faults += 1;
      node.isStopped = false;
    },
    async [Symbol.asyncDispose]() {
      for (const node of nodes) {
        node.proxy.heal();
        if (node.isStopped) process.kill(node.running?.pid ?? 0, "SIGCONT");
        const { running } = node;
        node.running = undefined;
        await running?.kill();
        await node.proxy[Symbol.asyncDispose]();
      }
    },
  };
}
