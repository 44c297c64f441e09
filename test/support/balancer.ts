import type { RunningNode } from "./program.ts";

/** Requests that a load balancer spreads over the nodes that its last look found ready. */
export interface Balancer extends AsyncDisposable {
  /** Nodes that the last look found ready. */
  readonly ready: number;
  /** Requests so far. */
  readonly asked: number;
  /** Sends no more. Returns the requests that failed. */
  stop(): Promise<readonly string[]>;
}

export interface BalancedRequests {
  readonly path: string;
  /** Between two looks at `/ready`. */
  readonly everyMs: number;
}

const REQUEST_MS = 25;

/** Sends 40 requests a second to the nodes in turns. It has no second try. */
export function startBalancer(
  nodes: () => readonly RunningNode[],
  { path, everyMs }: BalancedRequests,
): Balancer {
  let isOver = false;
  const failures: string[] = [];
  let asked = 0;
  let ready: readonly RunningNode[] = [];
  const look = async () => {
    while (!isOver) {
      const found = await Promise.all(
        nodes().map(async (node) => {
          const response = await fetch(`${node.url}/ready`, { keepalive: false }).catch(() => undefined);
          return response?.ok ? [node] : [];
        }),
      );
      ready = found.flat();
      await Bun.sleep(everyMs);
    }
  };
  const ask = async () => {
    while (!isOver) {
      const node = ready[asked % Math.max(ready.length, 1)];
      asked += 1;
      if (node) {
        const response = await fetch(node.url + path).catch((cause) => cause);
        if (!(response instanceof Response) || response.status !== 200)
          failures.push(`${response instanceof Response ? response.status : response}`);
      }
      await Bun.sleep(REQUEST_MS);
    }
  };
  const working = Promise.all([look(), ask()]);
  const stop = async () => {
    isOver = true;
    await working;
    return failures;
  };
  return {
    get ready() {
      return ready.length;
    },
    get asked() {
      return asked;
    },
    stop,
    async [Symbol.asyncDispose]() {
      await stop();
    },
  };
}
