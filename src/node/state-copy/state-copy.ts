import type { PgSettings } from "../../db/postgres/pools.ts";
import { UserError } from "../../lib/failure.ts";
import { type Clock, nowSecs } from "../../runtime/clock.ts";
import { DigestWriter, type TableDigest } from "./copied-tables.ts";
import { onPostgresState, type PgStateCopy } from "./postgres-tables.ts";

export interface StateCopyOptions {
  /** The path of state.db, whose data directory the caller has locked. */
  readonly file: string;
  /** The schema must be up to date. */
  readonly postgres: PgSettings;
  /** Where PostgreSQL is, in words for people. */
  readonly postgresName: string;
  /** Copies and compares, and then undoes everything. */
  readonly dryRun: boolean;
  /** `auth.signed_at_window_secs`: after the copy, requests signed before it are refused. */
  readonly signedAtWindowSecs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface StateCopyReport {
  readonly tables: readonly TableDigest[];
  /** Number of characters that were replaced because PostgreSQL cannot store them. */
  readonly nuls: number;
  /** Whether the rows were already there, because an earlier copy was interrupted before the source was marked as moved. */
  readonly wasThere: boolean;
}

/** Thrown to end a transaction without a commit. */
class DryRun extends Error {
  readonly report: StateCopyReport;

  constructor(report: StateCopyReport) {
    super("a dry run keeps nothing");
    this.report = report;
  }
}

/** Runs a copy in a PostgreSQL transaction, which a dry run undoes. */
export async function inTransaction(
  { postgres, dryRun }: Pick<StateCopyOptions, "postgres" | "dryRun">,
  work: (state: PgStateCopy) => Promise<StateCopyReport>,
): Promise<StateCopyReport> {
  try {
    return await onPostgresState(postgres, async (state) => {
      const report = await work(state);
      if (dryRun) throw new DryRun(report);
      return report;
    });
  } catch (cause) {
    if (cause instanceof DryRun) return cause.report;
    throw cause;
  }
}

/** Yields chunks unchanged and adds them to a digest. */
export function* hashed(chunks: Iterable<Uint8Array>, digest: DigestWriter): Generator<Uint8Array> {
  for (const chunk of chunks) {
    digest.add(chunk);
    yield chunk;
  }
}

export async function* hashedAsync(
  chunks: AsyncIterable<Uint8Array>,
  digest: DigestWriter,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    digest.add(chunk);
    yield chunk;
  }
}

export async function digestOf(
  table: string,
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
): Promise<TableDigest> {
  const digest = new DigestWriter();
  for await (const chunk of chunks) digest.add(chunk);
  return digest.finish(table);
}

/** Reports whether two tables have the same rows. */
export function isEqual(a: TableDigest, b: TableDigest): boolean {
  return a.rows === b.rows && a.sha256 === b.sha256;
}

/** @throws Error if the written rows differ from those that were read. */
export function requireEqual(source: TableDigest, copy: TableDigest): void {
  if (isEqual(source, copy)) return;
  throw new Error(
    `${source.table}: the copy differs from the source: ${source.rows} rows, ${source.sha256}, became ${copy.rows} rows, ${copy.sha256}. Everything was undone.`,
  );
}

/** @throws UserError if the source is no longer in use. */
export function refuseMoved(source: string, destination: string | undefined): void {
  if (destination !== undefined)
    throw new UserError(`the state in ${source} was moved to ${destination}, so it is not the latest`);
}

/** @throws UserError if nodes use the state. */
export async function refuseLiveNodes(
  state: PgStateCopy,
  advice = "Stop them, and try again in ten seconds.",
): Promise<void> {
  const nodes = await state.liveNodes();
  if (nodes.length > 0)
    throw new UserError(`these nodes use the state in PostgreSQL: ${nodes.join(", ")}. ${advice}`);
}

/** See `nonceFloor`. */
export function floorOf({ clock, signedAtWindowSecs }: StateCopyOptions): number {
  return nowSecs(clock) + signedAtWindowSecs;
}
