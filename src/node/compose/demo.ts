import { serviceNames } from "../../config/names.ts";
import type { DemoServices } from "../../console/demo/services.ts";
import type { HubRpc } from "../../hub/rpc.ts";
import type { RpcClient } from "../../lib/port-rpc.ts";
import { networkOf } from "../../protocol/network/network.ts";
import { nowSecs, setTimer } from "../../runtime/clock.ts";
import type { Common } from "../../runtime/common.ts";
import { openStateStores } from "../state/open-state.ts";
import type { StateLink } from "../state/thread-state.ts";

/** Far from the port of the interface, and below the ports that systems use for outgoing connections. */
const PORT_OFFSET = 20_000;
const MAX_PORT = 32_000;

/**
 * Opens the demo's part of the node on the main thread, so that all HTTP workers share one. Its code is loaded only on a node with a demo
 * network.
 *
 * @param hub submits messages; undefined if the hub's thread does not run
 */
export async function openNodeDemo(deps: {
  readonly common: Pick<Common, "config" | "clock" | "log">;
  readonly link: StateLink;
  readonly hub: Pick<RpcClient<HubRpc>, "submitMessage"> | undefined;
}): Promise<DemoServices> {
  const { common, link, hub } = deps;
  const { config, clock } = common;
  const log = common.log.child({ subsystem: "demo" });
  const { startDemoServices } = await import("../../console/demo/services.ts");
  const state = await openStateStores({ config, part: "main", link, log });
  const { port } = config.http;
  const services = startDemoServices({
    wantedPort: port === 0 || port + PORT_OFFSET > MAX_PORT ? 0 : port + PORT_OFFSET,
    signatureHeader: `${serviceNames(config.service.name).headerPrefix}Signature`,
    async secretsOf(ownerFid, targetUrl) {
      const webhooks = await state.stores.webhooks.listByOwner(ownerFid, nowSecs(clock));
      return webhooks.filter((webhook) => webhook.targetUrl === targetUrl).flatMap(({ secrets }) => secrets);
    },
    submit:
      hub &&
      (async (message) => {
        const reply = await hub.submitMessage(message);
        if (!reply.ok) throw new Error(reply.details);
      }),
    network: networkOf(config.protocol.network),
    nowMs: () => clock.nowMs(),
    setTimer,
    onFault: (err) => log.warn({ err }, "A message of the demo was refused"),
  });
  return {
    ...services,
    async stop() {
      await services.stop();
      await state[Symbol.asyncDispose]();
    },
  };
}
