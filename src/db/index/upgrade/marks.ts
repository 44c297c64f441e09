import type { IndexDatabase } from "../database.ts";
import { clearMeta, readMeta, writeMeta } from "../meta.ts";

/** The stages of a migration in their order. */
export type UpgradeStage = "copy" | "spool" | "build" | "verify" | "replace";

/** How far a migration has come, as its new file records it. */
export interface UpgradeMarks {
  /** The fingerprint of the former file. */
  readonly source: string;
  readonly stage: UpgradeStage;
  /** The last row of `messages` that is in the spool. */
  readonly spooledTo: number;
  /** Digest of the messages in the spool. */
  readonly digest: string;
  readonly spooled: number;
}

const KEY = "migrating from";

export function readMarks(db: IndexDatabase): UpgradeMarks | undefined {
  const text = readMeta(db, KEY);
  return text === undefined ? undefined : JSON.parse(text);
}

/** Writes the marks. Call it in the transaction of the work that they record. */
export function writeMarks(db: IndexDatabase, marks: UpgradeMarks): void {
  writeMeta(db, KEY, JSON.stringify(marks));
}

export function clearMarks(db: IndexDatabase): void {
  clearMeta(db, KEY);
}
