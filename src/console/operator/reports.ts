import type { PauseReport } from "../pulse/pulse.ts";

/** A thread of the node. */
export interface ThreadReport {
  readonly name: string;
  /** `silent`: it does not respond, because its event loop is busy. */
  readonly state: "ok" | "silent";
  readonly loop_p99_ms: number | null;
  readonly loop_max_ms: number | null;
  readonly heap_bytes: number | null;
  readonly last_fault: { readonly at: string; readonly message: string } | null;
}

/** Something that has a bound, and how much of it is used. */
export interface LimitReport {
  readonly name: string;
  readonly used: number;
  readonly max: number;
}

/** The threads of a node, its files and what bounds it. */
export interface ThreadsReport {
  readonly node: string;
  readonly uptime_secs: number;
  readonly threads: readonly ThreadReport[];
  readonly process: { readonly resident_bytes: number; readonly cpu_percent: number | null };
  readonly disk: {
    readonly free_bytes: number | null;
    readonly total_bytes: number | null;
    readonly index_bytes: number;
    readonly index_wal_bytes: number;
    /** Null with PostgreSQL. */
    readonly state_bytes: number | null;
    readonly state_wal_bytes: number | null;
    /** Why the last write failed; null after a success. */
    readonly write_fault: string | null;
  };
  readonly limits: readonly LimitReport[];
  readonly switches: readonly PauseReport[];
}

/** A backup, or a failed attempt to make one. */
export interface BackupEntry {
  /** The name of its directory; null for a failed one. */
  readonly file: string | null;
  readonly kind: "whole" | "state" | "index" | null;
  /** When it was started, unix seconds. */
  readonly at: number;
  /** Compressed; null for a failed one. */
  readonly bytes: number | null;
  /** Null where another program made it. */
  readonly seconds: number | null;
  readonly ok: boolean;
  /** Whether it was made and is not there any more. */
  readonly is_deleted: boolean;
  readonly reason: string | null;
  /** When this process has last read it back because the operator asked, unix seconds; null before. */
  readonly checked_at: number | null;
  /** What that found; null where nothing was wrong. */
  readonly check_fault: string | null;
}

/** Backups, and whether the operator can make one. */
export interface BackupsReport {
  readonly backups: readonly BackupEntry[];
  readonly under_way: boolean;
  /** The one that is being read back; null for none. */
  readonly checking: string | null;
  /** Whether backups can be downloaded: those in a directory. */
  readonly downloads: boolean;
  /** How many of those that this page asked for stay; scheduled ones are counted by themselves. */
  readonly keep: number;
  /** Why none can be made here; null while one can. */
  readonly unavailable: string | null;
  /** When the next scheduled one is due, unix seconds; null without a schedule. */
  readonly next_at: number | null;
}

export interface SettingInForce {
  /** `section.name`. */
  readonly key: string;
  /** Secrets are masked. */
  readonly value: unknown;
  /** `default`, a file with the line, a variable of the environment, or a flag. */
  readonly source: string;
  readonly default: unknown;
  /** What it is for. */
  readonly meaning: string;
  /** Valid values, as the end of a sentence that begins with "must be". */
  readonly rule: string;
  /** The values of which it has one; undefined for other kinds. */
  readonly choices?: readonly string[];
  /** When a change takes effect. `locked`: a variable of the environment or a flag decides. `file`: it is changed in the settings file. */
  readonly apply: "now" | "start" | "file" | "locked";
  /** What was set on this page; undefined for nothing. */
  readonly set?: unknown;
  /** The value at the next start, where it is another one. */
  readonly next?: unknown;
}

export interface SettingsReport {
  readonly settings: readonly SettingInForce[];
  /** The file of what was set on this page; null where the node cannot be changed. */
  readonly file: string | null;
  /** The settings file; null without one. */
  readonly settings_file: string | null;
  /** Whether other nodes share the state: each has settings of its own. */
  readonly is_shared: boolean;
  /** What the node did without at its start, because it prevented that; null for nothing. */
  readonly refused: RefusedSettings | null;
}

/** Settings of the page with which the node did not start. */
export interface RefusedSettings {
  readonly keys: readonly string[];
  readonly reason: string;
  /** Where they are now. */
  readonly file: string;
}

/** What a change of settings has done. */
export interface SettingsChanged {
  /** Those in force now. */
  readonly applied: readonly string[];
  /** Those that take effect at the next start. */
  readonly at_start: readonly string[];
  /** Threads that were busy, and have the new values as soon as they respond. */
  readonly late: readonly string[];
}
