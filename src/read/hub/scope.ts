import type { IndexDatabase } from "../../db/index/database.ts";
import { statement } from "../../db/index/statement.ts";
import { refuse } from "./refusal.ts";

const isMentioned = statement<{ one: number }, [fid: number]>(
  "hub.is-mentioned",
  "SELECT 1 AS one FROM upstream_mentioned WHERE fid = ?",
);

/** What a read needs of an fid: its whole state, or the part that the index also keeps of mentioned fids. */
export type Needed = "all" | "profile";

/** The fids whose state a node that follows only some of them can show. */
export interface ReadScope {
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
