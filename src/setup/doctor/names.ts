import { isIP } from "node:net";
import { isLoopbackHost } from "../../config/formats.ts";
import { readPostgresUrl } from "../../config/postgres-url.ts";
import type { Config } from "../../config/schema.ts";
import { reasonOf } from "../../lib/failure.ts";
import type { Resolve } from "../../net/resolve.ts";
import type { Check } from "./checks.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";

const SLOW_MS = 1000;
const ADVICE =
  "See /etc/resolv.conf and the spelling of the setting; webhooks and notifications need DNS, too";

/** Whether the host names of the settings resolve. */
export const namesCheck = (config: Config, resolve: Resolve): Check => ({
  name: "DNS",
  run: async (signal) => {
    const names = namesOf(config);
    if (names.length === 0) return [ok("DNS", "no setting names a host")];
    return await Promise.all(names.map(([setting, name]) => lookUp(resolve, setting, name, signal)));
  },
});

async function lookUp(
  resolve: Resolve,
  setting: string,
  name: string,
  signal: AbortSignal,
): Promise<Finding> {
  const started = performance.now();
  try {
    const addresses = await resolve(name, { signal });
    const ms = Math.round(performance.now() - started);
    const text = `${name} (${setting}) is ${addresses.slice(0, 3).join(", ")}, answered after ${ms} ms`;
    return ms > SLOW_MS
      ? warn("DNS", text, "Use a name server that answers faster, best one nearby")
      : ok("DNS", text);
  } catch (cause) {
    return fail("DNS", `${name} (${setting}) does not resolve: ${reasonOf(cause)}`, ADVICE);
  }
}

function namesOf({ upstream, state, chain }: Config): (readonly [setting: string, name: string])[] {
  const postgres = state.url === "" ? undefined : readPostgresUrl(state.url);
  const hosts: (readonly [string, string | undefined])[] = [
    ["upstream.url", hostOf(upstream.url)],
    ["chain.l1_rpc_url", hostOf(chain.l1_rpc_url)],
    ["state.url", postgres?.ok && postgres.value.socketPath === undefined ? postgres.value.host : undefined],
  ];
  return hosts.flatMap(([setting, name]) =>
    name === undefined || isIP(name) !== 0 || isLoopbackHost(name) ? [] : [[setting, name] as const],
  );
}

function hostOf(url: string): string | undefined {
  return url === "" ? undefined : URL.parse(url)?.hostname.replace(/^\[(.*)\]$/, "$1");
}
