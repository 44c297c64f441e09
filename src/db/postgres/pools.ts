import type { ConnectOptions } from "../../config/postgres-url.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { createBreaker } from "./breaker.ts";
import { openPgDriver, type PgDriver, type VerifyConnection } from "./driver.ts";
import { openPgPool, type PgPool } from "./pool.ts";
import { PgStats } from "./pool-stats.ts";

/**
 * The pools of one thread. Commits of `queue` and `ledger` do not wait for the disk: they are only for claims, settlements
 * and the dedupe ledger, whose repetition after a power failure is harmless. Everything that is acknowledged goes through
 * `main`.
 */
export interface PgPools extends AsyncDisposable {
  readonly main: PgPool;
  readonly queue: PgPool;
  readonly ledger: PgPool;
  readonly stats: PgStats;
  /** Why PostgreSQL does not respond, and since when; undefined while it does. */
  readonly away: { readonly reason: string; readonly sinceMs: number } | undefined;
}

/** Connection settings of PostgreSQL. */
export interface PgSettings {
  readonly connect: ConnectOptions;
  /** PEM of the operator's own certificate authorities. */
  readonly tlsCa?: string;
  readonly schema: string;
  /** Time limit of a statement. Locks get two fifths of it, and a caller waits up to seven fifths. */
  readonly timeoutMs: number;
}

export interface PgPoolsDeps {
  readonly settings: PgSettings;
  readonly applicationName: string;
  /**
   * Maximum number of connections of each pool. Where `queue` or `ledger` is omitted, `main` takes its place, whose commits
   * are synced.
   */
  readonly connections: { readonly main: number; readonly queue?: number; readonly ledger?: number };
  readonly log: Logger;
  /** See `PgDriverOptions`. */
  readonly verify?: VerifyConnection | undefined;
  /** Counters shared with other threads; its own if omitted. */
  readonly stats?: PgStats;
}

/** The deadline of a probe. */
const PROBE_TIMEOUT_MS = 2_000;

/** Opens the pools of one thread. They connect on first use. */
export function openPgPools(deps: PgPoolsDeps): PgPools {
  const { settings, applicationName, connections, log } = deps;
  const stats = deps.stats ?? new PgStats();
  const deadlineMs = (settings.timeoutMs * 7) / 5;
  const driver = (syncsCommits: boolean, count: number, isVerified = true): PgDriver =>
    openPgDriver({
      connect: settings.connect,
      tlsCa: settings.tlsCa,
      connections: count,
      verify: isVerified ? deps.verify : undefined,
      connectTimeoutMs: Math.min(settings.timeoutMs, deadlineMs),
      session: {
        applicationName,
        schema: settings.schema,
        statementTimeoutMs: settings.timeoutMs,
        lockTimeoutMs: (settings.timeoutMs * 2) / 5,
        syncsCommits,
      },
    });
  // Skips the verification: even if a server with an older state is there, the next beat, which all threads wait for, must
  // reach it.
  const breaker = createBreaker({ probe: () => probe(driver(true, 1, false)), log, shared: stats });
  const pool = (syncsCommits: boolean, count: number) =>
    openPgPool({
      openDriver: () => driver(syncsCommits, count),
      connections: count,
      deadlineMs,
      breaker,
      stats,
    });
  const main = pool(true, connections.main);
  const unsynced = (count: number | undefined) => (count === undefined ? main : pool(false, count));
  const pools = { main, queue: unsynced(connections.queue), ledger: unsynced(connections.ledger) };
  return {
    ...pools,
    stats,
    get away() {
      return breaker.open;
    },
    async [Symbol.asyncDispose]() {
      breaker[Symbol.dispose]();
      for (const opened of new Set(Object.values(pools))) await opened[Symbol.asyncDispose]();
    },
  };
}

/** Succeeds if a new connection reaches a server that accepts writes. */
async function probe(driver: PgDriver): Promise<void> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error("no response")), PROBE_TIMEOUT_MS);
  try {
    const asked = driver.runText("SELECT pg_is_in_recovery() AS standby");
    const [answer] = await Promise.race([asked, late.promise]);
    if (answer?.standby !== false) throw new Error("the server is a standby");
  } finally {
    clearTimeout(timer);
    driver.close();
  }
}
