import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isEmpty } from "../../db/index/identity.ts";
import { programName } from "../../version.ts";

/** What a failing check stops: all requests from load balancers, those that need the state or a proof, or nothing. */
type Stops = "ready" | "state" | "proof" | "nothing";

/** A check of the node on itself. */
interface Check {
  readonly stops: Stops;
  /** What makes it fail. */
  readonly setBy: string;
  /** The event after which it passes without a restart, except for a damaged file; null if the process ends instead. */
  readonly clearedBy: string | null;
  /** The gauges and `/status` keys that show it, besides `/ready`. */
  readonly shownBy?: readonly string[];
}

/**
 * The checks of a node, in the order in which `/ready` names them. Each has an event that clears it and that does not depend on the
 * requests that the failing check keeps away. Every figure that shows a fault belongs to one of them.
 */
export const CHECKS = {
  stopping: { stops: "ready", setBy: "a signal to stop, or a fault that ends the process", clearedBy: null },
  starting: {
    stops: "ready",
    setBy: "the start of the process",
    clearedBy: "the start of its last part",
    shownBy: ["node_ready"],
  },
  database_damaged: {
    stops: "ready",
    setBy: "a database has a damaged page, or its writer found a cut log",
    clearedBy: "a start over a whole database",
  },
  disk_write: {
    stops: "ready",
    setBy: "a write of a database failed",
    clearedBy: "a write of that database; without one the node tries every 5 s (index) or 1 s (state)",
    shownBy: ["disk.write_fault", "disk_write_fault", "state.failure"],
  },
  index_full: {
    stops: "ready",
    setBy: "the index reached index.max_bytes",
    clearedBy: "a measurement below 99 % of the bound",
    shownBy: ["index.full", "index_full"],
  },
  upstream_worker: {
    stops: "ready",
    setBy: "the thread that follows the upstream reported nothing for 15 s",
    clearedBy: "its next report",
  },
  upstream_peer: {
    stops: "ready",
    setBy: "a call showed that the upstream is not a Farcaster node that can be followed",
    clearedBy: "the next applied block, the next fid that is read, or a passed check of the node",
    shownBy: ["upstream_up"],
  },
  unknown_validators: {
    stops: "ready",
    setBy: "a shard is upstream.ready_lag_secs behind because validators that are not known sign it",
    clearedBy: "a block of it whose validators are known, by trust.validators_file or a newer release",
  },
  fork: {
    stops: "ready",
    setBy: "validators signed two blocks for one height of a shard",
    clearedBy: "both certificates are moved out of forks/ in the data directory, which is read every 10 s",
    shownBy: ["trust_forks"],
  },
  state_differs: {
    stops: "ready",
    setBy: 'the index has another state than the validators signed, with trust.on_mismatch = "stop"',
    clearedBy: "a block after which the index has the signed state",
    shownBy: ["trust_shards_differing"],
  },
  upstream_behind: {
    stops: "ready",
    setBy: "the index is being filled, or a shard is upstream.ready_lag_secs behind",
    clearedBy: "a block of each shard that is younger than that",
    shownBy: ["upstream.behind"],
  },
  not_proven: {
    stops: "proof",
    setBy: "the index is not proven to be what the validators signed",
    clearedBy: "a block of each shard after which the index has the signed state",
  },
  not_set_up: {
    stops: "ready",
    setBy: "a node without data and upstream, with service.ready_when_empty = false",
    clearedBy: "a start with data, an upstream, or that setting true",
  },
  state_away: {
    stops: "state",
    setBy: "PostgreSQL did not respond to a call",
    clearedBy: "a probe to which PostgreSQL responds, every 500 ms",
    shownBy: ["state.away_since", "state.reason", "state.reachable", "state_up"],
  },
  state_stalled: {
    stops: "state",
    setBy: "the writer of the state did not respond, or found its database locked, for 5 s",
    clearedBy: "its next commit, which it tries every second",
    shownBy: ["state.stalled_secs", "state_stalled_seconds"],
  },
  files_replaced: {
    stops: "nothing",
    setBy: "the data directory, a database or its log was deleted or replaced under the node",
    clearedBy: null,
  },
  node_fenced: {
    stops: "nothing",
    setBy: "the lease in PostgreSQL was not renewed for 6 s: no call, post or claim starts",
    clearedBy: "the next renewed lease",
    shownBy: ["state.fenced", "node_fenced"],
  },
  thread_silent: {
    stops: "nothing",
    setBy: "a thread did not respond within 500 ms: /status and the metrics name it",
    clearedBy: "its next response",
  },
  upstream_refused: {
    stops: "nothing",
    setBy: "a followed node sent a block that is not the network's",
    clearedBy: "a block of it that is accepted: it is asked again after 24 h, or once no other node is left",
    shownBy: ["upstream_state"],
  },
  upstream_failing: {
    stops: "nothing",
    setBy: "a call to a followed node failed, or it lacks what other nodes have",
    clearedBy: "its next response, after a pause of at most a minute (10 minutes where it lacks blocks)",
    shownBy: ["upstream_state"],
  },
  event_disputed: {
    stops: "nothing",
    setBy: "two followed nodes have different on-chain events of an fid",
    clearedBy: "a comparison in which they have the same: one in 20 s is of what is disputed",
    shownBy: ["trust_disputed_events"],
  },
  account_quarantined: {
    stops: "nothing",
    setBy: "no followed node could repair an account that differs from the signed state",
    clearedBy:
      "a block of its shard after which the index has the signed state; it is repaired again after a day",
    shownBy: ["trust_accounts_quarantined"],
  },
  network_ahead: {
    stops: "nothing",
    setBy: "the network decides records of kinds, or by an engine version, that this program does not know",
    clearedBy: "a start of a release that knows them",
    shownBy: ["upstream_unknown_engine_at", "upstream_unknown_records", "upstream_unknown_records_dropped"],
  },
  webhook_queue_full: {
    stops: "nothing",
    setBy: "the queue of deliveries is full: no event is published",
    clearedBy: "a delivery that ends; the publisher looks each second",
    shownBy: ["webhook_backpressure"],
  },
  webhook_slow: {
    stops: "nothing",
    setBy: "a call of a webhook took 2 s",
    clearedBy: "its next call that is quicker",
    shownBy: ["webhooks.slow", "webhook_slow"],
  },
  client_host_down: {
    stops: "nothing",
    setBy: "three calls in a row to a client's host had no response",
    clearedBy: "a response of it, or an hour without calls to it",
    shownBy: ["send.hosts_down", "send_hosts_down"],
  },
  side_file: {
    stops: "nothing",
    setBy: "history.db or previews.db could not be written",
    clearedBy: "its next write, which is tried each minute (history) or with the next preview",
    shownBy: ["history", "previews.fault"],
  },
  backup_failed: {
    stops: "nothing",
    setBy: "a scheduled backup failed",
    clearedBy: "the next one, which is tried every ten minutes",
    shownBy: ["backup"],
  },
  sweep_behind: {
    stops: "nothing",
    setBy: "expired rows of the state are left after a sweep, or it failed",
    clearedBy: "the next sweep that ends",
    shownBy: ["maintenance.behind"],
  },
  scores_failed: {
    stops: "nothing",
    setBy: "scores could not be computed",
    clearedBy: "the next run, which is tried every hour",
    shownBy: ["scores.last_fault"],
  },
} as const satisfies Readonly<Record<string, Check>>;

export type CheckName = keyof typeof CHECKS;

/** The checks that `/ready` evaluates. */
type ReadyCheck = {
  [Name in CheckName]: (typeof CHECKS)[Name]["stops"] extends "nothing" ? never : Name;
}[CheckName];

/** Functions that return why a check fails, as text for people; undefined while it passes. */
export type CheckReasons = Readonly<Record<ReadyCheck, () => string | undefined>>;

/**
 * Returns why the node is not ready: the reason of the first failing check.
 *
 * @param needs what the caller needs besides reads.
 */
export function firstReason(
  reasons: CheckReasons,
  needs: { readonly state: boolean; readonly proof: boolean },
): string | undefined {
  for (const name of Object.keys(CHECKS) as CheckName[]) {
    const { stops } = CHECKS[name];
    if (stops === "nothing" || (stops !== "ready" && !needs[stops])) continue;
    const reason = reasons[name as ReadyCheck]();
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Reports whether the node has data or follows another node. Until then, its operator has not chosen what it serves. */
export function isSetUp({ upstream }: Pick<Config, "upstream">, db: IndexDatabase): boolean {
  return isFollowing({ upstream }) || !isEmpty(db);
}

/**
 * Returns why a node must not get requests yet because its operator has not chosen what it serves; undefined for a node that has data,
 * follows another, or is its own network on purpose. Such a node merges nothing, so the reason applies until it restarts.
 */
export function notSetUpReason({ service, upstream }: Config, db: IndexDatabase): string | undefined {
  if (service.ready_when_empty || isSetUp({ upstream }, db)) return undefined;
  return `not_set_up: the node has no data and follows no node; ${programName} init chooses the users that it serves, ${programName} serve --demo fills it with a demo network, service.ready_when_empty = true makes it a network of its own`;
}
