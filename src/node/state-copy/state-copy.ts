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
  /** Where PostgreSQL is, for people. */
  readonly postgresName: string;
  /** Copies, compares, and undoes everything. */
  readonly dryRun: boolean;
  /** `auth.signed_at_window_secs`: requests that were signed before the copy are refused after it. */
  readonly signedAtWindowSecs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface StateCopyReport {
  readonly tables: readonly TableDigest[];
  /** Characters that PostgreSQL cannot store and that were replaced. */
  readonly nuls: number;
  /** Whether the rows were there already: an earlier copy was interrupted before the source was marked as moved. */
  readonly wasThere: boolean;
}

/** Ends a transaction without a commit. */
class DryRun extends Error {
  readonly report: StateCopyReport;

  constructor(report: StateCopyReport) {
    super("a dry run keeps nothing");
    this.report = report;
  }
}

/** Runs a copy in a transaction of PostgreSQL, which a dry run undoes. */
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

/** Passes chunks on and adds them to a digest. */
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

/** Whether two tables have the same rows. */
export function isEqual(a: TableDigest, b: TableDigest): boolean {
  return a.rows === b.rows && a.sha256 === b.sha256;
}

/** @throws Error when what was written is not what was read. */
export function requireEqual(source: TableDigest, copy: TableDigest): void {
  if (isEqual(source, copy)) return;
  throw new Error(
    `${source.table}: the copy differs from the source: ${source.rows} rows, ${source.sha256}, became ${copy.rows} rows, ${copy.sha256}. Everything was undone.`,
  );
}

/** @throws UserError when the source is not in use any more. */
export function refuseMoved(source: string, destination: string | undefined): void {
  if (destination !== undefined)
    throw new UserError(`the state in ${source} was moved to ${destination}, so it is not the latest`);
}

/** @throws UserError when nodes use the state. */
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
