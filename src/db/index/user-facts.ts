import type { IndexDatabase } from "./database.ts";
import { statement } from "./statement.ts";

/** Look-ups of what the protocol asks of a user before a message counts. */

const fidExists = statement<{ one: number }, [fid: number]>(
  "user-facts.fid-exists",
  "SELECT 1 AS one FROM fids WHERE fid = ?",
);
const proUntil = statement<{ expiresAt: number }, [fid: number]>(
  "user-facts.pro-until",
  "SELECT expires_at AS expiresAt FROM pro_tiers WHERE fid = ?",
);
const verificationOf = statement<{ one: number }, [fid: number, address: Uint8Array]>(
  "user-facts.verification-of",
  "SELECT 1 AS one FROM verifications WHERE fid = ? AND address = ?",
);

export function isRegistered(db: IndexDatabase, fid: number): boolean {
  return db.get(fidExists, fid) !== undefined;
}

/** Whether an fid has the Pro tier at a time, unix seconds. */
export function isPro(db: IndexDatabase, fid: number, nowSecs: number): boolean {
  return (db.get(proUntil, fid)?.expiresAt ?? 0) > nowSecs;
}

export function hasVerification(db: IndexDatabase, fid: number, address: Uint8Array): boolean {
  return db.get(verificationOf, fid, address) !== undefined;
}
