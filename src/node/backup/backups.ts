import { timingSafeEqual } from "node:crypto";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../../config/schema.ts";
import type { OfferedBackup } from "../../console/console-rpc.ts";
import { type OperatorRefusal, refuse } from "../../console/operator/operator-sessions.ts";
import type { BackupEntry, BackupsReport } from "../../console/operator/reports.ts";
import { secretDigest } from "../../db/state/secret.ts";
import type { BackupLog } from "../../history/events/backups.ts";
import { reasonOf } from "../../lib/failure.ts";
import { err, ok, type Result } from "../../lib/result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import { placeOf } from "../snapshot/places/place-of.ts";
import { compressedFile, MANIFEST_FILE, SNAPSHOT_PARTS } from "../snapshot/places/snapshot-files.ts";
import { verifySnapshot } from "../snapshot/verify-snapshot.ts";
import { type Backup, type BackupKind, backupsIn, makeBackup, UNDELETABLE } from "./backup.ts";
import type { BackupSchedule } from "./backup-schedule.ts";

/** Makes the backups of a node, one after the other. */
export type Backups = ReturnType<typeof createBackups>;

const MAX_LISTED = 100;
/** The store of a bucket may not respond. */
const LIST_TIMEOUT_MS = 5000;
const OFFERED_MS = 60_000;
const LAPSES_MS = 6 * 3_600_000;

export function createBackups(deps: {
  readonly config: Pick<Config, "data" | "protocol" | "upstream" | "backup">;
  readonly clock: Clock;
  readonly past: BackupLog;
}) {
  const { config, clock, past } = deps;
  /** Reads the place from the settings, which may change while the node runs. */
  const rootNow = () => placeOf(config.backup.url || config.backup.dir, config.backup);
  let last: Promise<unknown> = Promise.resolve();
  let waiting = 0;
  let checking: string | null = null;
  /** The result of the last check of each backup, by name. */
  const checks = new Map<string, { readonly at: number; readonly fault: string | null }>();

  async function make(kind: BackupKind, signal: AbortSignal, isManual: boolean): Promise<Backup> {
    const atMs = clock.nowMs();
    const startedMs = performance.now();
    const result = await attempt(() =>
      makeBackup({ config, root: rootNow(), kind, isManual, clock, signal }),
    );
    const tried = { at: Math.floor(atMs / 1000), kind, seconds: (performance.now() - startedMs) / 1000 };
    if (result.ok) {
      const { name, manifest } = result.value;
      const bytes = (manifest.index?.compressed_bytes ?? 0) + (manifest.state?.compressed_bytes ?? 0);
      past.add({ ...tried, name, bytes, fault: null });
    } else if (!signal.aborted)
      past.add({ ...tried, name: null, bytes: null, fault: reasonOf(result.error) });
    if (!result.ok) throw result.error;
    return result.value;
  }

  return {
    isUnderWay: (): boolean => waiting > 0,
    /**
     * @param isManual see `BackupOptions`.
     * @throws like `makeBackup`
     */
    make(kind: BackupKind, signal: AbortSignal, isManual: boolean = false): Promise<Backup> {
      waiting += 1;
      const made = last.then(() => make(kind, signal, isManual));
      last = made
        .catch(() => undefined)
        .finally(() => {
          waiting -= 1;
        });
      return made;
    },
    /** Returns the name of the backup that is being read back or waits for that. */
    checking: (): string | null => checking,
    /** Reads a backup back, after the work in progress. @throws like `verifySnapshot` */
    check(name: string, signal: AbortSignal): Promise<void> {
      checking = name;
      const checked = last.then(async () => {
        const result = await attempt(() => verifySnapshot({ place: rootNow().inside(name), config, signal }));
        checks.delete(name);
        checks.set(name, {
          at: Math.floor(clock.nowMs() / 1000),
          fault: result.ok ? null : reasonOf(result.error),
        });
        for (const old of [...checks.keys()].slice(0, -MAX_LISTED)) checks.delete(old);
      });
      last = checked
        .catch(() => undefined)
        .finally(() => {
          checking = null;
        });
      return checked;
    },
    /** Lists the complete backups of the directory, deleted backups and failed attempts, newest first. */
    async list(): Promise<readonly BackupEntry[]> {
      const tried = past.list(MAX_LISTED);
      const stored = (await backupsIn(rootNow(), AbortSignal.timeout(LIST_TIMEOUT_MS))).map(
        ({ name, bytes, kind, atMs }): BackupEntry => ({
          file: name,
          kind,
          at: Math.floor(atMs / 1000),
          bytes,
          seconds: tried.find((made) => made.name === name)?.seconds ?? null,
          ok: true,
          is_deleted: false,
          reason: null,
          checked_at: checks.get(name)?.at ?? null,
          check_fault: checks.get(name)?.fault ?? null,
        }),
      );
      const names = new Set<string | null>(stored.map(({ file }) => file));
      const others = tried
        .filter(({ name }) => !names.has(name))
        .map(
          ({ name, kind, at, bytes, seconds, fault }): BackupEntry => ({
            file: name,
            kind,
            at,
            bytes,
            seconds,
            ok: fault === null,
            is_deleted: fault === null,
            reason: fault,
            checked_at: null,
            check_fault: null,
          }),
        );
      return [...stored, ...others].sort((a, b) => b.at - a.at).slice(0, MAX_LISTED);
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

/** Creates the operations with which the operator sees and starts backups. */
export function createOperatorBackups(deps: {
  readonly config: Pick<Config, "state" | "backup">;
  readonly backups: Backups;
  readonly schedule: Pick<BackupSchedule, "stats">;
  readonly clock: Clock;
  readonly log: Logger;
}) {
  const { config, backups, schedule, clock, log } = deps;
  const stopping = new AbortController();
  let started: Promise<unknown> = Promise.resolve();
  const directoryNow = () =>
    config.backup.url === "" && config.backup.dir !== "" ? resolve(config.backup.dir) : undefined;
  let offered: { readonly ticket: string; readonly name: string; readonly untilMs: number } | undefined;
  /** When the download in progress lapses, in case its worker has died. */
  let takenUntilMs = 0;

  /** Only names in the list are used in a path. */
  async function refuseUnknown(name: string) {
    if (isUnset(config)) return refuse("conflict", unavailableReason(config) ?? UNSET);
    const isKnown = (await backups.list()).some(
      ({ file, is_deleted: isDeleted }) => file === name && !isDeleted,
    );
    return isKnown ? undefined : refuse("notFound", "there is no such backup");
  }

  return {
    /** Starts reading a backup back. This continues in the background, and the report has the result. */
    async check(name: string): Promise<Result<null, OperatorRefusal>> {
      const refused = await refuseUnknown(name);
      if (refused) return refused;
      if (backups.isUnderWay() || backups.checking() !== null)
        return refuse("conflict", "a backup is being made or checked");
      started = backups.check(name, stopping.signal).catch(() => undefined);
      return ok(null);
    },
    /**
     * Lets one backup of a directory be downloaded, once and within a minute. Returns the secret that identifies the offer; it replaces
     * an earlier one.
     */
    async offer(name: string): Promise<Result<string, OperatorRefusal>> {
      const refused = await refuseUnknown(name);
      if (refused) return refused;
      if (directoryNow() === undefined)
        return refuse("conflict", "the backups are in a bucket: download them from there");
      const ticket = crypto.getRandomValues(new Uint8Array(32)).toHex();
      offered = { ticket, name, untilMs: clock.nowMs() + OFFERED_MS };
      return ok(ticket);
    },
    /** Redeems an offer. Only one download runs at a time. */
    take(ticket: string): Result<OfferedBackup, OperatorRefusal> {
      const now = clock.nowMs();
      if (!offered || now > offered.untilMs || !isSame(ticket, offered.ticket))
        return refuse("notFound", "this download is over: ask for it again");
      if (now < takenUntilMs) return refuse("conflict", "another backup is being downloaded");
      const { name } = offered;
      offered = undefined;
      takenUntilMs = now + LAPSES_MS;
      const path = join(directoryNow() ?? "", name);
      const files = [...SNAPSHOT_PARTS.map(compressedFile), MANIFEST_FILE].flatMap((file) => {
        const found = statSync(join(path, file), { throwIfNoEntry: false });
        if (!found?.isFile()) return [];
        const modifiedAt = Math.floor(found.mtimeMs / 1000);
        return { path: join(path, file), name: `${name}/${file}`, bytes: found.size, modifiedAt };
      });
      return ok({ name, files });
    },
    /** Ends the download. */
    taken(): void {
      takenUntilMs = 0;
    },
    report: async (): Promise<BackupsReport> => ({
      backups: isUnset(config) ? [] : await backups.list(),
      under_way: backups.isUnderWay(),
      checking: backups.checking(),
      downloads: directoryNow() !== undefined,
      unavailable: unavailableReason(config),
      keep: config.backup.keep,
      next_at: config.backup.at === "" ? null : schedule.stats().nextAt,
    }),
    /** Starts a backup of the state, which continues in the background. */
    start(): Result<null, OperatorRefusal> {
      const unavailable = unavailableReason(config);
      if (unavailable !== null) return refuse("conflict", unavailable);
      if (backups.isUnderWay() || backups.checking() !== null)
        return refuse("conflict", "a backup is under way");
      started = backups.make("state", stopping.signal, true).then(
        ({ path, leftOut, deleted, undeletable }) => {
          log.info({ path, deleted }, "Created a backup");
          for (const what of leftOut) log.warn(what);
          if (undeletable.length > 0) log.warn({ paths: undeletable }, UNDELETABLE);
        },
        (err) => {
          if (!stopping.signal.aborted) log.error({ err }, "A backup failed");
        },
      );
      return ok(null);
    },
    /** Stops the backup in progress and deletes what it has written. */
    async stop(): Promise<void> {
      stopping.abort(new Error("the node is shutting down"));
      await started;
    },
  };
}

const UNSET = "set backup.dir to a directory, preferably on another disk";

const isSame = (given: string, secret: string) => timingSafeEqual(secretDigest(given), secretDigest(secret));

function unavailableReason({ state, backup }: Pick<Config, "state" | "backup">): string | null {
  if (state.url !== "") return "the state is in PostgreSQL: back it up with the tools of PostgreSQL";
  if (isUnset({ backup })) return UNSET;
  return null;
}

function isUnset({ backup }: Pick<Config, "backup">): boolean {
  return backup.dir === "" && backup.url === "";
}
