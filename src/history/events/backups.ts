import type { SideDatabase } from "../../db/side/side-database.ts";
import { statement } from "../../db/side/statement.ts";

/** An attempt to make a backup. */
export interface PastBackup {
  /** Unix seconds. */
  readonly at: number;
  readonly kind: "whole" | "state" | "index";
  /** Null if it failed. */
  readonly name: string | null;
  /** Compressed size; null if it failed. */
  readonly bytes: number | null;
  readonly seconds: number;
  /** Why it failed; null if it succeeded. */
  readonly fault: string | null;
}

/** The backups that a node has tried to make, including those deleted since. */
export type BackupLog = ReturnType<typeof recentBackups>;

const ADD = statement<
  never,
  [at: number, kind: string, name: string | null, bytes: number | null, seconds: number, fault: string | null]
>(
  "history-backups.add",
  "INSERT INTO backups (at, kind, name, bytes, seconds, fault) VALUES (?, ?, ?, ?, ?, ?)",
);
const NEWEST = statement<PastBackup, [since: number, max: number]>(
  "history-backups.newest",
  "SELECT at, kind, name, bytes, seconds, fault FROM backups WHERE at >= ? ORDER BY at DESC, id DESC LIMIT ?",
);
const DELETE_BEFORE = statement<never, [before: number]>(
  "history-backups.delete-before",
  "DELETE FROM backups WHERE at < ?",
);

const MAX_FAULT_CHARS = 500;

export function addBackup(db: SideDatabase, { at, kind, name, bytes, seconds, fault }: PastBackup): void {
  db.run(ADD, at, kind, name, bytes, seconds, fault?.slice(0, MAX_FAULT_CHARS) ?? null);
}

export const newestBackups = (db: SideDatabase, max: number): PastBackup[] => db.all(NEWEST, 0, max);

export function deleteBackupsBefore(db: SideDatabase, before: number): void {
  db.run(DELETE_BEFORE, before);
}

/** Returns a log in memory, for a node without a history. */
export function recentBackups(max: number) {
  const kept: PastBackup[] = [];
  return {
    add(backup: PastBackup): void {
      kept.unshift(backup);
      kept.length = Math.min(kept.length, max);
    },
    /** Newest first. */
    list: (wanted: number): readonly PastBackup[] => kept.slice(0, wanted),
  };
}
