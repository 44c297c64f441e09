import { expect, test } from "bun:test";
import type { IngestRpc } from "../../src/ingest/thread/rpc.ts";
import { serveRpc } from "../../src/lib/port-rpc.ts";
import { startWorker } from "../../src/node/threads/worker-handle.ts";
import { workerUrl } from "../../src/node/worker-urls.ts";
import type { UpstreamWorkerInit } from "../../src/node/workers/upstream.worker.ts";
import { configWith } from "../runtime/config.ts";
import { makeChain } from "../support/upstream/chain.ts";
import { UpstreamNode } from "../support/upstream/node.ts";
import { UpstreamServer } from "../support/upstream/server.ts";
import { startTestWriter } from "../support/writer.ts";

/** Starts the upstream worker with verifier threads of `verifierUrl`. Resolves with the reason when it crashes. */
async function crashOf(verifierUrl: string): Promise<string> {
  using writer = await startTestWriter();
  const chain = makeChain("verifier threads", 40);
  const network = new UpstreamNode(chain);
  network.produce(40);
  const server = new UpstreamServer(network);
  await server.start();
  const { port1, port2 } = new MessageChannel();
  serveRpc<Pick<IngestRpc, "relay" | "hasRoom">>(port1, {
    relay: (batch) => writer.client.relay(batch),
    hasRoom: () => true,
  });
  const config = configWith(
    `upstream.url=${server.url}`,
    "trust.level=node",
    `data.dir=${writer.dir}`,
    "log.level=fatal",
  );
  const crash = Promise.withResolvers<string>();
  const worker = startWorker<UpstreamWorkerInit>({
    name: "upstream",
    url: workerUrl("upstream"),
    init: { config, ingest: port2, verifierUrl },
    keepLine: () => undefined,
    onDamage: () => undefined,
    onCrash: crash.resolve,
  });
  const reason = await crash.promise;
  await worker.stop().catch(() => {});
  server.stop();
  port1.close();
  return reason;
}

test.each([
  ["throws", "throwing.worker.ts", "a bug"],
  ["exits", "exiting.worker.ts", "ended by itself"],
])("the upstream worker crashes, and with it the node, if a verifier thread %s", async (_, file, reason) => {
  const url = new URL(`../ingest/verify/processes/${file}`, import.meta.url).href;
  expect(await crashOf(url)).toContain(reason);
});
