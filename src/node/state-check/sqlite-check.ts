import { existsSync } from "node:fs";
import { indexPath, openIndexWriter } from "../../db/index/database.ts";
import { openState, openStateReader, statePath } from "../../db/state/database.ts";
import { raiseNonceFloor } from "../../db/state/state-clock.ts";
import { detachIndex } from "../snapshot/detach-index.ts";
import { ENDED, recounts, type StateFinding, verifyState } from "../state/verify.ts";

/** Returns inconsistencies in state.db as of one moment. The node may run. */
export function checkSqliteState(dataDir: string): StateFinding[] {
  using db = openStateReader(statePath(dataDir));
  return db.snapshot(() => verifyState(db));
}

/**
 * Makes a state.db safe to use that was put into the data directory by hand, possibly with an index of the same time: requests signed
 * before are refused, claims and runs end, counters are recomputed, and the index starts a new log. The caller has locked the data
 * directory. Returns any remaining inconsistencies.
 */
export function settleSqliteState(
  dataDir: string,
  { nonceFloor }: { readonly nonceFloor: number },
): StateFinding[] {
  using db = openState(statePath(dataDir), { mayCreate: false });
  db.transaction(() => {
    raiseNonceFloor(db, nonceFloor);
    for (const sql of [...ENDED, ...recounts("")]) db.sqlite.run(sql);
  });
  db.checkpoint();
  if (existsSync(indexPath(dataDir))) {
    using index = openIndexWriter(indexPath(dataDir));
    detachIndex(index, { hasState: true });
    index.checkpoint();
  }
  return verifyState(db);
}
