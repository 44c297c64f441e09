import { decodeStored, type SideDatabase } from "../../db/side/side-database.ts";
import { statement } from "../../db/side/statement.ts";

export type MarkKind =
  | "start"
  | "stop"
  | "crash"
  | "release"
  | "setting"
  | "pause"
  | "resume"
  | "backup"
  | "backup_failed";

/** An event in the life of the node. */
export interface Mark {
  /** Unix seconds. */
  readonly at: number;
  readonly kind: MarkKind;
  /** The version, the settings, what was paused, or what a backup contains or why it failed. */
  readonly detail: string;
}

const ADD = statement<never, [at: number, kind: string, detail: string]>(
  "history-marks.add",
  "INSERT INTO marks (at, kind, detail) VALUES (?, ?, ?)",
);
const BETWEEN = statement<Mark, [from: number, to: number, limit: number]>(
  "history-marks.between",
  "SELECT at, kind, detail FROM marks WHERE at >= ? AND at < ? ORDER BY at DESC, id DESC LIMIT ?",
);
const LAST_RUN = statement<Mark>(
  "history-marks.last-run",
  "SELECT at, kind, detail FROM marks WHERE kind IN ('start', 'stop', 'crash') ORDER BY id DESC LIMIT 1",
);
const FIRST = statement<{ at: number }>("history-marks.first", "SELECT at FROM marks ORDER BY at LIMIT 1");
const DELETE_BEFORE = statement<never, [before: number]>(
  "history-marks.delete-before",
  "DELETE FROM marks WHERE at < ?",
);
const FACT = statement<{ value: string }, [name: string]>(
  "history-facts.get",
  "SELECT value FROM facts WHERE name = ?",
);
const SET_FACT = statement<never, [name: string, value: string]>(
  "history-facts.set",
  "INSERT INTO facts (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
);

/** Maximum number of marks per response. */
const MAX_MARKS = 500;

export function addMark(db: SideDatabase, { at, kind, detail }: Mark): void {
  db.run(ADD, at, kind, detail.slice(0, 500));
}

/** Returns the newest marks in a time range, oldest first. */
export function marksBetween(db: SideDatabase, from: number, to: number): Mark[] {
  return db.all(BETWEEN, from, to, MAX_MARKS).reverse();
}

/** Returns when the first mark was made. Before that, nothing watched the node. */
export function watchedSince(db: SideDatabase): number | undefined {
  return db.get(FIRST)?.at;
}

export function deleteMarksBefore(db: SideDatabase, before: number): void {
  db.run(DELETE_BEFORE, before);
}

/** State of the node when it starts. */
export interface Beginning {
  readonly at: number;
  readonly version: string;
  /** A digest of the value of each setting that is not secret, by its key. */
  readonly settings: Readonly<Record<string, string>>;
}

/** Marks a start, and what has changed since the previous one. */
export function markStart(
  db: SideDatabase,
  { at, version, settings }: Beginning,
  lastSample: number | undefined,
): void {
  const last = db.get(LAST_RUN);
  if (last?.kind === "start")
    addMark(db, { at: Math.min(at, Math.max(last.at, lastSample ?? last.at)), kind: "crash", detail: "" });
  const before = db.get(FACT, "version")?.value;
  if (before !== undefined && before !== version)
    addMark(db, { at, kind: "release", detail: `${before} ${version}` });
  const changed = changedKeys(db.get(FACT, "settings")?.value, settings);
  if (changed.length > 0) addMark(db, { at, kind: "setting", detail: changed.join(" ") });
  addMark(db, { at, kind: "start", detail: version });
  db.run(SET_FACT, "version", version);
  db.run(SET_FACT, "settings", JSON.stringify(settings));
}

function changedKeys(before: string | undefined, now: Readonly<Record<string, string>>): string[] {
  if (before === undefined) return [];
  const old = decodeStored(() => JSON.parse(before) as Readonly<Record<string, string>>);
  return Object.keys({ ...old, ...now })
    .filter((key) => old[key] !== now[key])
    .sort();
}
