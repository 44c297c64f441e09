import { expect, test } from "bun:test";
import { pathToFileURL } from "node:url";
import { connectRpc } from "../../src/lib/port-rpc.ts";
import { startWorker, WorkerChannels, type WorkerHandle } from "../../src/node/threads/worker-handle.ts";
import { tempDir } from "../support/program.ts";

interface Echo {
  echo(value: number): number;
}

const CALLS = 20_000;

/** A worker that returns what it is sent. */
function echoWorker(dir: string): string {
  const entry = new URL("../../src/node/workers/worker-entry.ts", import.meta.url).href;
  const rpc = new URL("../../src/lib/port-rpc.ts", import.meta.url).href;
  const file = `${dir}/echo.worker.ts`;
  Bun.write(
    file,
    `import { runWorker } from "${entry}"; import { serveRpc } from "${rpc}";
     runWorker(async () => ({ connect: (port) => serveRpc(port, { echo: (value) => value }), stop: async () => {} }));`,
  );
  return pathToFileURL(file).href;
}

test("requests before a thread starts, while it does and after arrive once and in order, and the first starts it", async () => {
  using dir = tempDir();
  const url = echoWorker(dir.path);
  let worker: WorkerHandle | undefined;
  let waited = 0;
  const channels = new WorkerChannels(() => {
    waited += 1;
    worker ??= startWorker({
      name: "echo",
      url,
      init: {},
      keepLine: () => {},
      onDamage: () => {},
      onCrash: (reason) => {
        throw new Error(reason);
      },
    });
    // Later than the first request: others arrive meanwhile.
    if (waited === 100) channels.attach(worker);
  });
  const clients = [1, 2].map(() => connectRpc<Echo>(channels.connect()));
  expect(worker).toBeUndefined();
  const results: number[][] = [[], []];
  await Promise.all(
    clients.map(async (client, at) => {
      const calls: Promise<unknown>[] = [];
      for (let value = 0; value < CALLS; value += 1) {
        calls.push(client.echo(value).then((echoed) => results[at]?.push(echoed)));
        if (value % 50 === 0) await Bun.sleep(0);
      }
      await Promise.all(calls);
    }),
  );
  const inOrder = Array.from({ length: CALLS }, (_, value) => value);
  expect(results).toEqual([inOrder, inOrder]);
  expect(waited).toBeGreaterThanOrEqual(100);
  expect(await connectRpc<Echo>(channels.connect()).echo(7)).toBe(7);
  await worker?.stop();
}, 60_000);
