import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { err, type Result } from "../../lib/result.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { CastDb } from "./lists/cast-sources.ts";
import { EMPTY_PAGE, type Page } from "./page.ts";
import { BEING_FILLED, invalidParam, type Refusal, refuse } from "./refusal.ts";
import type { ListReader, ListRunner, Turns } from "./turns.ts";

const isMentioned = statement<{ one: number }, [fid: number]>(
  "hub.is-mentioned",
  "SELECT 1 AS one FROM upstream_mentioned WHERE fid = ?",
);

/** State of an fid that a read needs: all of it, or the part that the index also keeps for mentioned fids. */
export type Needed = "all" | "profile";

/** The fids whose state a partially following node can show. */
interface ReadScope {
  /** Whether lists over all fids contain only those of some. */
  readonly isPartial: boolean;
  /** Returns the refusal of a read by an fid; undefined if the index has what the read needs. */
  refusalOf(fid: number, needed: Needed): ReturnType<typeof refuse> | undefined;
}

/** @param followed undefined for all. */
export function createReadScope(db: IndexDatabase, followed: ReadonlySet<number> | undefined): ReadScope {
  return {
    isPartial: followed !== undefined,
    refusalOf(fid, needed) {
      if (!followed || followed.has(fid)) return undefined;
      if (needed === "profile" && db.get(isMentioned, fid)) return undefined;
      return refuse("bad_request", `fid ${fid} is not followed by this node`);
    },
  };
}

/** Context shared by the reads of this folder. */
export interface ReadContext extends CastDb {
  readonly scope: ReadScope;
  readonly clock: Clock;
  readonly lists: ListRunner;
  /** Reports whether the index has been filled once from the upstream; always true for a standalone node. */
  readonly isFilled: () => boolean;
}

/** Runs a read by an fid that returns a single object. */
export function readOne<T>(
  { db, scope, isFilled }: ReadContext,
  fid: number,
  needed: Needed,
  read: () => Result<T, Refusal>,
): Result<T, Refusal> {
  if (!isFilled()) return err(BEING_FILLED);
  if (fid === 0) return invalidParam("fid is required");
  return scope.refusalOf(fid, needed) ?? db.traced(read);
}

/** Runs a list over the state of one fid. fid 0 has none. */
export async function readListOf<Item>(
  context: ReadContext,
  { fid, needed, reader }: { fid: number; needed: Needed; reader: ListReader | undefined },
  read: (turns: Turns) => Promise<Result<Page<Item>, Refusal>>,
): Promise<Result<Page<Item>, Refusal>> {
  if (context.isFilled() && fid === 0) return { ok: true, value: EMPTY_PAGE };
  return context.scope.refusalOf(fid, needed) ?? readList(context, reader, read);
}

/** Runs a list over the state of all fids that the index has. */
export async function readList<Item>(
  { db, lists, isFilled }: ReadContext,
  reader: ListReader | undefined,
  read: (turns: Turns) => Promise<Result<Page<Item>, Refusal>>,
): Promise<Result<Page<Item>, Refusal>> {
  return isFilled() ? lists.run((turns) => db.traced(() => read(turns)), reader) : err(BEING_FILLED);
}
