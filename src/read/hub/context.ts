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

/** What a read needs of an fid: its whole state, or the part that the index also keeps of mentioned fids. */
export type Needed = "all" | "profile";

/** The fids whose state a node that follows only some of them can show. */
interface ReadScope {
  /** Whether lists over all fids hold only those of some. */
  readonly isPartial: boolean;
  /** Returns the refusal of a read by an fid; undefined if the index has what it needs. */
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

/** What the reads of this folder share. */
export interface ReadContext extends CastDb {
  readonly scope: ReadScope;
  readonly clock: Clock;
  readonly lists: ListRunner;
  /** Whether the index has been filled once from the upstream; true for a node of its own. */
  readonly isFilled: () => boolean;
}

/** Runs a read by an fid that returns one thing. */
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
