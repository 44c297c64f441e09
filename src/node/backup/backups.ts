import type { Config } from "../../config/schema.ts";
import { type OperatorRefusal, refuse } from "../../console/operator/operator-sessions.ts";
import type { BackupEntry, BackupsReport } from "../../console/operator/reports.ts";
import { reasonOf } from "../../lib/failure.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { placeOf } from "../snapshot/places/place-of.ts";
import { type Backup, type BackupKind, backupsIn, makeBackup, UNDELETABLE } from "./backup.ts";
import type { BackupSchedule } from "./backup-schedule.ts";

/** The backups that a node makes: each after the one before. */
export interface Backups {
  /**
   * @param isManual see `BackupOptions`.
   * @throws as `makeBackup`
   */
  make(kind: BackupKind, signal: AbortSignal, isManual?: boolean): Promise<Backup>;
  /** The complete backups of the directory and the failed attempts of this process, newest first. */
  list(): Promise<readonly BackupEntry[]>;
  isUnderWay(): boolean;
}

interface Attempt {
  readonly atMs: number;
  readonly seconds: number;
  /** Undefined for a failed one. */
  readonly name: string | undefined;
  readonly reason: string | null;
}

const MAX_ATTEMPTS = 50;
const MAX_LISTED = 100;
/** A bucket may not respond. */
const LIST_TIMEOUT_MS = 5000;

export function createBackups(deps: {
  readonly config: Pick<Config, "data" | "protocol" | "upstream" | "backup">;
  readonly clock: Clock;
}): Backups {
  const { config, clock } = deps;
  const root = placeOf(config.backup.url || config.backup.dir, config.backup);
  const attempts: Attempt[] = [];
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;

  async function make(kind: BackupKind, signal: AbortSignal, isManual: boolean): Promise<Backup> {
    const atMs = clock.nowMs();
    const startedMs = performance.now();
    const result = await attempt(() => makeBackup({ config, root, kind, isManual, clock, signal }));
    attempts.push({
      atMs,
      seconds: (performance.now() - startedMs) / 1000,
      name: result.ok ? result.value.name : undefined,
      reason: result.ok ? null : reasonOf(result.error),
    });
    if (attempts.length > MAX_ATTEMPTS) attempts.shift();
    if (!result.ok) throw result.error;
    return result.value;
  }

  return {
    isUnderWay: () => waiting > 0,
    make(kind, signal, isManual = false) {
      waiting += 1;
      const made = last.then(() => make(kind, signal, isManual));
      last = made
        .catch(() => undefined)
        .finally(() => {
          waiting -= 1;
        });
      return made;
    },
    async list() {
      const stored = (await backupsIn(root, AbortSignal.timeout(LIST_TIMEOUT_MS))).map(
        ({ name, bytes, kind, atMs }): BackupEntry => ({
          file: name,
          kind,
          at: Math.floor(atMs / 1000),
          bytes,
          seconds: attempts.find((made) => made.name === name)?.seconds ?? null,
          ok: true,
          reason: null,
        }),
      );
      const failed = attempts.flatMap(({ atMs, seconds, reason }): BackupEntry[] =>
        reason === null
          ? []
          : [
              {
                file: null,
                kind: null,
                at: Math.floor(atMs / 1000),
                bytes: null,
                seconds,
                ok: false,
                reason,
              },
            ],
      );
      return [...stored, ...failed].sort((a, b) => b.at - a.at).slice(0, MAX_LISTED);
    },
  };
}

async function attempt<T>(work: () => Promise<T>): Promise<Result<T, unknown>> {
  try {
    return ok(await work());
  } catch (cause) {
    return err(cause);
  }
}

/** The backups that the operator sees and starts. */
interface OperatorBackups {
  report(): Promise<BackupsReport>;
  /** Starts a backup of the state. It ends on its own. */
  start(): Result<null, OperatorRefusal>;
  /** Stops the one under way, and deletes what it has written. */
  stop(): Promise<void>;
}

export function createOperatorBackups(deps: {
  readonly config: Pick<Config, "state" | "backup">;
  readonly backups: Backups;
  readonly schedule: Pick<BackupSchedule, "stats"> | undefined;
  readonly log: Logger;
}): OperatorBackups {
  const { config, backups, schedule, log } = deps;
  const unavailable = unavailableReason(config);
  const stopping = new AbortController();
  let started: Promise<unknown> = Promise.resolve();

  return {
    report: async () => ({
      backups: isUnset(config) ? [] : await backups.list(),
      under_way: backups.isUnderWay(),
      unavailable,
      keep: config.backup.keep,
      next_at: schedule?.stats().nextAt ?? null,
    }),
    start() {
      if (unavailable !== null) return refuse("conflict", unavailable);
      if (backups.isUnderWay()) return refuse("conflict", "a backup is under way");
      started = backups.make("state", stopping.signal, true).then(
        ({ path, deleted, undeletable }) => {
          log.info({ path, deleted }, "Made a backup");
          if (undeletable.length > 0) log.warn({ paths: undeletable }, UNDELETABLE);
        },
        (err) => {
          if (!stopping.signal.aborted) log.error({ err }, "A backup failed");
        },
      );
      return ok(null);
    },
    async stop() {
      stopping.abort(new Error("the node is shutting down"));
      await started;
    },
  };
}

function unavailableReason({ state, backup }: Pick<Config, "state" | "backup">): string | null {
  if (state.url !== "") return "the state is in PostgreSQL: back it up with the tools of PostgreSQL";
  if (isUnset({ backup })) return "set backup.dir to a directory, best on another disk, and restart the node";
  return null;
}

function isUnset({ backup }: Pick<Config, "backup">): boolean {
  return backup.dir === "" && backup.url === "";
}
