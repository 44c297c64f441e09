import type { Config } from "../../config/schema.ts";
import { reasonOf } from "../../lib/failure.ts";
import { type ListenAddress, listenersOf, listenFaultAt } from "../../net/listen-address.ts";
import type { CheckName } from "../../node/checks.ts";
import type { Check } from "./checks.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const NOT_SET_UP: CheckName = "not_set_up";

/** Whether the ports are free for a node that does not run yet. */
export const portsCheck = (config: Pick<Config, "http" | "hub">): Check => ({
  name: "ports",
  run: async () =>
    listenersOf(config)
      .filter(({ port }) => port > 0)
      .map(freePort),
});

function freePort(address: ListenAddress): Finding {
  const { host, port, setting } = address;
  const fault = listenFaultAt(address);
  return fault
    ? fail("ports", fault.message, `Stop what uses it, or set ${setting}`)
    : ok("ports", `${port} (${setting}) is free on ${host}`);
}

/** Whether the node that uses the data directory is ready. */
export const readyCheck = (askReady: () => Promise<string>): Check => ({
  name: "running node",
  run: async () => {
    try {
      await askReady();
      return [ok("running node", "uses the data directory and is ready")];
    } catch (cause) {
      const reason = `uses the data directory; ${reasonOf(cause)}`;
      // It runs with the settings of its package; those that are checked here may be newer.
      if (reason.includes(NOT_SET_UP))
        return [warn("running node", reason, "Restart it after svc init: it then runs with these settings")];
      const advice =
        "Its /status and its log say more; a node that fills its index is ready after that, one at index.max_bytes when the bound is higher or the index smaller (svc index compact)";
      return [fail("running node", reason, advice)];
    }
  },
});
