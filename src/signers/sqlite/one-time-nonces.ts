import type { StateDatabase } from "../../db/state/database.ts";
import type { StateClock } from "../../db/state/state-clock.ts";
import { statement } from "../../db/state/statement.ts";
import type { StoreWrites } from "../../db/state/store-writes.ts";
import type { SweepStep } from "../../db/state/sweep.ts";
import type { OneTimeNonceStore } from "../one-time-nonces.ts";

const insert = statement<unknown, [nonce: string, purpose: string, expiresAt: number]>(
  "one-time-nonces.insert",
  "INSERT INTO one_time_nonces (nonce, purpose, expires_at) VALUES (?, ?, ?)",
);
const take = statement<{ expires_at: number }, [nonce: string, purpose: string]>(
  "one-time-nonces.take",
  "DELETE FROM one_time_nonces WHERE nonce = ? AND purpose = ? RETURNING expires_at",
);
const deleteExpired = statement<unknown, [nowSecs: number, max: number]>(
  "one-time-nonces.sweep",
  `DELETE FROM one_time_nonces WHERE nonce IN
   (SELECT nonce FROM one_time_nonces WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
);

export function oneTimeNonceWrites(db: StateDatabase): StoreWrites<OneTimeNonceStore, "issue" | "take"> {
  return {
    issue({ nonce, purpose }, expiresAt) {
      db.run(insert, nonce, purpose, expiresAt);
    },
    take({ nonce, purpose }, nowSecs) {
      const [taken] = db.all(take, nonce, purpose);
      return taken !== undefined && taken.expires_at >= nowSecs;
    },
  };
}

export function oneTimeNonceSweep(db: StateDatabase, clock: StateClock): SweepStep {
  return (maxRows) => {
    const deleted = db.run(deleteExpired, clock.sweepableSecs(), maxRows);
    return { deleted, more: deleted === maxRows };
  };
}
