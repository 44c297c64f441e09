import { listenForHub } from "../../hub/listener.ts";
import type { HubRpc } from "../../hub/rpc.ts";
import { serveRpc } from "../../lib/port-rpc.ts";
import { loadOnce } from "../../lib/promises.ts";
import { processDescriptors } from "../../runtime/process.ts";
import type { HubInit } from "../compose/hub/open-hub.ts";
import { runWorker } from "./worker-entry.ts";

/**
 * Listens for gRPC, outside the threads of reads and merges. The code that serves it is loaded with the first connection or request,
 * because many nodes never get one.
 */
runWorker<HubInit>(async (init, { keepLine }) => {
  const { hub, http } = init.config;
  let isOpen = false;
  const open = loadOnce(async () => {
    isOpen = true;
    const { openHub } = await import("../compose/hub/open-hub.ts");
    return openHub(init, keepLine);
  });
  // -1 means any free port, because 0 disables gRPC. The HTTP workers are served in either case.
  const listener =
    hub.port === 0
      ? undefined
      : await listenForHub(
          { host: hub.host, port: Math.max(hub.port, 0) },
          { descriptors: processDescriptors(), accept: async (socket) => (await open()).accept(socket) },
        );
  return {
    facts: { port: listener?.port },
    connect: (client) =>
      serveRpc<HubRpc>(client, {
        submitMessage: async (...call) => (await open()).rpc.submitMessage(...call),
        submitBulkMessages: async (...call) => (await open()).rpc.submitBulkMessages(...call),
        validateMessage: async (...call) => (await open()).rpc.validateMessage(...call),
        getInfo: async () => (await open()).rpc.getInfo(),
        submitWrite: async (messages) => (await open()).rpc.submitWrite(messages),
        isUpstreamReady: async (timeoutMs) => (await open()).rpc.isUpstreamReady(timeoutMs),
        stats: async () => (isOpen ? (await open()).rpc.stats() : null),
        async drain(ms) {
          if (isOpen) await (await open()).rpc.drain(ms);
        },
      }),
    async stop() {
      listener?.close();
      if (isOpen) await (await open()).stop(http.shutdown_grace_secs * 1000);
    },
  };
});
