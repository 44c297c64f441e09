import { isLoopbackHost, isWildcardHost } from "../formats.ts";
import { fewestConnections } from "../http-workers.ts";
import type { Config } from "../schema.ts";

/** A valid setting that conflicts with another one. */
export interface Conflict {
  readonly key: string;
  /** The conflicting setting. */
  readonly otherKey: string;
  readonly message: string;
}

/** Finds all conflicts between settings. */
export function findConflicts(config: Config): readonly Conflict[] {
  const conflicts: Conflict[] = [];
  const { backup, chain, http, hub, protocol, service, trust, upstream } = config;
  if (service.compat_prefixes.includes(service.name)) {
    conflicts.push({
      key: "service.compat_prefixes",
      otherKey: "service.name",
      message: `must not name service.name (${service.name}), which is the prefix of the native dialect`,
    });
  }
  if (http.shutdown_grace_secs >= service.shutdown_deadline_secs) {
    conflicts.push({
      key: "http.shutdown_grace_secs",
      otherKey: "service.shutdown_deadline_secs",
      message: `must be less than service.shutdown_deadline_secs (${service.shutdown_deadline_secs})`,
    });
  } else if (http.drain_delay_secs + http.shutdown_grace_secs >= service.shutdown_deadline_secs) {
    const left = service.shutdown_deadline_secs - http.shutdown_grace_secs;
    conflicts.push({
      key: "http.drain_delay_secs",
      otherKey: "service.shutdown_deadline_secs",
      message: `must be less than ${left}, which http.shutdown_grace_secs leaves of service.shutdown_deadline_secs`,
    });
  }
  if (hub.port > 0 && hub.port === http.port && sameAddress(hub.host, http.host)) {
    conflicts.push({
      key: "hub.port",
      otherKey: "http.port",
      message: `must differ from http.port (${http.port})`,
    });
  }
  for (const [key, port, host] of [
    ["http.port", http.port, http.host],
    ["hub.port", hub.port, hub.host],
  ] as const) {
    if (hub.http_port === 0 || hub.http_port !== port || !sameAddress(hub.host, host)) continue;
    conflicts.push({ key: "hub.http_port", otherKey: key, message: `must differ from ${key} (${port})` });
  }
  if (hub.admin && !isLoopbackHost(hub.host)) {
    conflicts.push({
      key: "hub.admin",
      otherKey: "hub.host",
      message: `must be false while hub.host (${hub.host}) is not a loopback address`,
    });
  }
  if (upstream.url !== "" && upstream.urls.length > 0) {
    conflicts.push({
      key: "upstream.url",
      otherKey: "upstream.urls",
      message: "must be empty while upstream.urls names nodes: it is a list of one",
    });
  }
  if (hub.replication && (trust.level !== "roots" || trust.roots !== "full")) {
    conflicts.push({
      key: "hub.replication",
      otherKey: "trust.roots",
      message:
        'must be false without trust.level = "roots" and trust.roots = "full": only a proven state is served',
    });
  }
  if (trust.events === "rpc") {
    const [otherKey, message] =
      chain.op_rpc_url === ""
        ? (["chain.op_rpc_url", 'must not be "rpc" without chain.op_rpc_url'] as const)
        : (["protocol.network", 'must not be "rpc" but on mainnet, whose registries are known'] as const);
    if (chain.op_rpc_url === "" || protocol.network !== "mainnet")
      conflicts.push({ key: "trust.events", otherKey, message });
  }
  if ((upstream.username === "") !== (upstream.password === "")) {
    const [given, missing] = upstream.username === "" ? ["password", "username"] : ["username", "password"];
    conflicts.push({
      key: `upstream.${given}`,
      otherKey: `upstream.${missing}`,
      message: `must not be set without upstream.${missing}`,
    });
  }
  if (upstream.fids.length > 0 && upstream.fid_file !== "") {
    conflicts.push({
      key: "upstream.fid_file",
      otherKey: "upstream.fids",
      message: "must be empty while upstream.fids names fids",
    });
  }
  const { mode } = config.scores;
  if (mode === "computed" || mode === "both") {
    for (const [otherKey, isPartial] of [
      ["upstream.fids", upstream.fids.length > 0],
      ["upstream.fid_file", upstream.fid_file !== ""],
    ] as const) {
      if (!isPartial) continue;
      conflicts.push({
        key: "scores.mode",
        otherKey,
        message: `must be "off" or "imported" while ${otherKey} selects fids: a part of the network has no trust to follow`,
      });
    }
  }
  conflicts.push(...stateConflicts(config));
  if (backup.at !== "" && backup.dir === "" && backup.url === "") {
    conflicts.push({
      key: "backup.at",
      otherKey: "backup.dir",
      message: "must not be set without backup.dir or backup.url",
    });
  }
  if (backup.url !== "" && backup.dir !== "") {
    conflicts.push({
      key: "backup.url",
      otherKey: "backup.dir",
      message: "must not be set with backup.dir: backups are in one place",
    });
  }
  for (const key of ["access_key_id", "secret_access_key"] as const)
    if (backup.url !== "" && backup[key] === "") {
      conflicts.push({
        key: "backup.url",
        otherKey: `backup.${key}`,
        message: `must not be set without backup.${key}`,
      });
    }
  if (backup.at !== "" && !backup.index && config.state.url !== "") {
    conflicts.push({
      key: "backup.at",
      otherKey: "backup.index",
      message:
        "must not be set without backup.index while state.url is set: PostgreSQL has backups of its own",
    });
  }
  return conflicts;
}

/** Finds conflicts between the settings of a state in PostgreSQL. */
function stateConflicts(config: Config): Conflict[] {
  const { state, webhooks, send } = config;
  if (state.url === "") {
    const others = [
      ["webhooks.delivery_concurrency", webhooks.delivery_concurrency],
      ["send.send_concurrency", send.send_concurrency],
    ] as const;
    return others.flatMap(([key, value]) =>
      value === 0
        ? [{ key, otherKey: "state.url", message: "must be at least 1 while state.url is empty" }]
        : [],
    );
  }
  const fewest = fewestConnections(config);
  if (state.connections === 0 || state.connections >= fewest) return [];
  return [
    {
      key: "state.connections",
      otherKey: "http.workers",
      message: `must be 0 or at least ${fewest} with the HTTP workers of this node`,
    },
  ];
}

function sameAddress(a: string, b: string): boolean {
  return a === b || isWildcardHost(a) || isWildcardHost(b);
}
