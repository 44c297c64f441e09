import type { Config } from "../../config/schema.ts";
import { isFollowing } from "../../config/upstream-urls.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { isEmpty } from "../../db/index/identity.ts";
import { programName } from "../../version.ts";

/** What a failing check stops: all requests from load balancers, those that need the state or a proof, or only what its text names. */
type Stops = "ready" | "state" | "proof" | "nothing";

/** A check of the node on itself. */
interface Check {
  readonly stops: Stops;
  /** When it fails, as a clause. */
  readonly setBy: string;
  /** When it passes again, without a restart except for a damaged file; null if the process ends instead. */
  readonly clearedBy: string | null;
  /** The gauges and `/status` keys that show it, besides `/ready`. */
  readonly shownBy?: readonly string[];
}

/**
 * The checks of a node, in the order in which `/ready` names them. Each has an event that clears it and that does not depend on the
 * requests that the failing check keeps away. Every figure that shows a fault belongs to one of them.
 */
export const CHECKS = {
  stopping: {
    stops: "ready",
    setBy: "the process got a signal to stop, or a fault ends it",
    clearedBy: null,
  },
  starting: {
    stops: "ready",
    setBy: "the process is starting",
    clearedBy: "its last part has started",
    shownBy: ["node_ready"],
  },
  database_damaged: {
    stops: "ready",
    setBy: "a database has a damaged page, or its writer found a cut log",
    clearedBy: "the node starts with an undamaged database",
  },
  disk_write: {
    stops: "ready",
    setBy: "a write to a database failed",
    clearedBy: "a write to it succeeds; the node tries every 5 s (index) or 1 s (state)",
    shownBy: ["disk.write_fault", "disk_write_fault", "state.failure"],
  },
  index_full: {
    stops: "ready",
    setBy: "the index reached index.max_bytes",
    clearedBy: "its size is below 99 % of that",
    shownBy: ["index.full", "index_full"],
  },
  upstream_worker: {
    stops: "ready",
    setBy: "the upstream thread has reported nothing for 15 s",
    clearedBy: "it reports again",
  },
  upstream_peer: {
    stops: "ready",
    setBy: "a call showed that the upstream is not a Farcaster node, or one that cannot be followed",
    clearedBy: "a block is applied, an fid is read, or the upstream passes a check",
    shownBy: ["upstream_up"],
  },
  unknown_validators: {
    stops: "ready",
    setBy: "a shard is upstream.ready_lag_secs behind because unknown validators sign it",
    clearedBy: "the validators of one of its blocks are known, from trust.validators_file or a newer release",
  },
  fork: {
    stops: "ready",
    setBy: "validators signed two blocks for one height of a shard",
    clearedBy: "both certificates are moved out of forks/ in the data directory, which is read every 10 s",
    shownBy: ["trust_forks"],
  },
  state_differs: {
    stops: "ready",
    setBy: 'the index differs from the state that the validators signed, with trust.on_mismatch = "stop"',
    clearedBy: "the index has the signed state after a block",
    shownBy: ["trust_shards_differing"],
  },
  upstream_behind: {
    stops: "ready",
    setBy: "the index is being filled, or a shard is upstream.ready_lag_secs behind",
    clearedBy: "each shard has a block younger than that",
    shownBy: ["upstream.behind"],
  },
  not_proven: {
    stops: "proof",
    setBy: "the index is not proven to be what the validators signed",
    clearedBy: "the index has the signed state after a block of each shard",
  },
  not_set_up: {
    stops: "ready",
    setBy: "the node has no data and no upstream, with service.ready_when_empty = false",
    clearedBy: "the node starts with data, an upstream, or that setting true",
  },
  state_away: {
    stops: "state",
    setBy: "PostgreSQL did not respond to a call",
    clearedBy: "PostgreSQL responds to a probe, sent every 500 ms",
    shownBy: ["state.away_since", "state.reason", "state.reachable", "state_up"],
  },
  state_stalled: {
    stops: "state",
    setBy: "the writer of the state did not respond, or found its database locked, for 5 s",
    clearedBy: "it commits, which it tries every second",
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
    clearedBy: "the lease is renewed",
    shownBy: ["state.fenced", "node_fenced"],
  },
  thread_silent: {
    stops: "nothing",
    setBy: "a thread did not respond within 500 ms: /status and the metrics name it",
    clearedBy: "it responds",
  },
  upstream_refused: {
    stops: "nothing",
    setBy: "a followed node sent a block that is not the network's",
    clearedBy: "a block from it is accepted; it is asked again after 24 h, or once no other node is left",
    shownBy: ["upstream_state"],
  },
  upstream_failing: {
    stops: "nothing",
    setBy: "a call to a followed node failed, or it lacks what other nodes have",
    clearedBy: "it responds, after a pause of at most a minute (10 minutes if it lacks blocks)",
    shownBy: ["upstream_state"],
  },
  event_disputed: {
    stops: "nothing",
    setBy: "two followed nodes, or the index and the chain, disagree on the on-chain events of an fid",
    clearedBy: "they agree; one comparison in 20 s is of a disputed event",
    shownBy: ["trust_disputed_events"],
  },
  account_quarantined: {
    stops: "nothing",
    setBy: "no followed node could repair an account that differs from the signed state",
    clearedBy: "the index has the signed state after a block of its shard; the repair is retried after a day",
    shownBy: ["trust_accounts_quarantined"],
  },
  network_ahead: {
    stops: "nothing",
    setBy: "the network uses kinds of records, or an engine version, that this program does not know",
    clearedBy: "a release that knows them starts",
    shownBy: ["upstream_unknown_engine_at", "upstream_unknown_records", "upstream_unknown_records_dropped"],
  },
  webhook_queue_full: {
    stops: "nothing",
    setBy: "the queue of deliveries is full: no event is published",
    clearedBy: "a delivery ends; the publisher checks every second",
    shownBy: ["webhook_backpressure"],
  },
  webhook_slow: {
    stops: "nothing",
    setBy: "a call to a webhook took 2 s",
    clearedBy: "its next call is faster",
    shownBy: ["webhooks.slow", "webhook_slow"],
  },
  client_host_down: {
    stops: "nothing",
    setBy: "three consecutive calls to a client's host had no response",
    clearedBy: "it responds, or an hour passes without calls to it",
    shownBy: ["send.hosts_down", "send_hosts_down"],
  },
  side_file: {
    stops: "nothing",
    setBy: "history.db or previews.db could not be written",
    clearedBy: "it is written, which is tried each minute (history) or with the next preview",
    shownBy: ["history", "previews.fault"],
  },
  backup_failed: {
    stops: "nothing",
    setBy: "a scheduled backup failed",
    clearedBy: "the next one succeeds; it is tried every ten minutes",
    shownBy: ["backup"],
  },
  sweep_behind: {
    stops: "nothing",
    setBy: "a sweep left expired rows of the state, or failed",
    clearedBy: "the next sweep completes",
    shownBy: ["maintenance.behind"],
  },
  scores_failed: {
    stops: "nothing",
    setBy: "scores could not be computed",
    clearedBy: "the next run succeeds; it is tried every hour",
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
