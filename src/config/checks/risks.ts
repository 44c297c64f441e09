import { isLoopbackHost } from "../formats.ts";
import { defaultConfigText } from "../load.ts";
import { isUnverified, readPostgresUrl } from "../postgres-url.ts";
import type { Config } from "../schema.ts";

/** A valid but risky setting. */
export interface Risk {
  readonly key: string;
  readonly message: string;
}

/** Finds risky settings, which a node logs when it starts. */
export function findRisks(config: Config): readonly Risk[] {
  return [
    ...nameRisks(config),
    ...stateRisks(config),
    ...proxyRisks(config),
    ...openRisks(config),
    ...sizeRisks(config),
  ];
}

function stateRisks({ state }: Config): readonly Risk[] {
  const connect = state.url === "" ? undefined : readPostgresUrl(state.url);
  if (!connect?.ok || !isUnverified(connect.value)) return [];
  return [
    {
      key: "state.url",
      message:
        "Reaches PostgreSQL on another machine without proof that it is the right one: anyone on the way can read and change " +
        "the state. Use sslmode=verify-full",
    },
  ];
}

function proxyRisks({ http }: Config): readonly Risk[] {
  if (!http.trusted_proxies.some((network) => network.endsWith("/0"))) return [];
  return [
    {
      key: "http.trusted_proxies",
      message:
        "Trusts every address as a proxy: any client can choose the address by which its requests are counted. List the networks " +
        "of the proxies only",
    },
  ];
}

function openRisks({ http }: Config): readonly Risk[] {
  if (isLoopbackHost(http.host) || !http.anonymous || http.anonymous_units_per_minute > 0) return [];
  return [
    {
      key: "http.anonymous",
      message:
        "Serves reads to anyone without a limit on a public address. Set http.anonymous_units_per_minute, or require keys with " +
        "http.anonymous = false, unless a proxy limits clients",
    },
  ];
}

/** An index takes more than half of this before it has any records. */
const SMALL_INDEX_BYTES = 1_000_000;

function sizeRisks({ index }: Config): readonly Risk[] {
  if (index.max_bytes === 0 || index.max_bytes >= SMALL_INDEX_BYTES) return [];
  return [
    {
      key: "index.max_bytes",
      message:
        "Is in bytes, and an empty index takes about that much: the node may merge nothing at all. `svc upstream estimate` says how many an index needs",
    },
  ];
}

function nameRisks({ http, service }: Config): readonly Risk[] {
  const defaults = Bun.TOML.parse(defaultConfigText()) as { service: Config["service"] };
  const isPublic = !isLoopbackHost(http.host);
  if (!isPublic || service.name !== defaults.service.name) return [];
  return [
    {
      key: "service.name",
      message:
        "Listens on a public address with the default service.name: signed requests name no host, so one for another node " +
        "of this name is also valid here within auth.signed_at_window_secs. Give this node a name of its own",
    },
  ];
}
