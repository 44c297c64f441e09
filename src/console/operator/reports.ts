import type { PauseReport } from "../pulse/pulse.ts";

/** A thread of the node. */
export interface ThreadReport {
  readonly name: string;
  /** `silent`: it does not respond because its event loop is busy. */
  readonly state: "ok" | "silent";
  readonly loop_p99_ms: number | null;
  readonly loop_max_ms: number | null;
  readonly heap_bytes: number | null;
  readonly last_fault: { readonly at: string; readonly message: string } | null;
}

/** A limit and how much of it is used. */
export interface LimitReport {
  readonly name: string;
  readonly used: number;
  readonly max: number;
}

/** The threads of a node, its files and its limits. */
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
  /** The name of its directory; null for a failed attempt. */
  readonly file: string | null;
  readonly kind: "whole" | "state" | "index" | null;
  /** When it was started, unix seconds. */
  readonly at: number;
  /** Compressed size; null for a failed attempt. */
  readonly bytes: number | null;
  /** Null if another program made it. */
  readonly seconds: number | null;
  readonly ok: boolean;
  /** Whether it was made but no longer exists. */
  readonly is_deleted: boolean;
  readonly reason: string | null;
  /** When this process last read it back at the operator's request, unix seconds; null if it did not. */
  readonly checked_at: number | null;
  /** What was wrong with it; null if nothing was. */
  readonly check_fault: string | null;
}

/** Backups, and whether the operator can make one. */
export interface BackupsReport {
  readonly backups: readonly BackupEntry[];
  readonly under_way: boolean;
  /** The backup that is being read back; null if none is. */
  readonly checking: string | null;
  /** Whether backups can be downloaded, which requires a directory. */
  readonly downloads: boolean;
  /** How many of the backups requested on this page are kept; scheduled ones are counted separately. */
  readonly keep: number;
  /** Why no backup can be made here; null if one can. */
  readonly unavailable: string | null;
  /** When the next scheduled backup is due, unix seconds; null without a schedule. */
  readonly next_at: number | null;
}

export interface SettingInForce {
  /** `section.name`. */
  readonly key: string;
  /** Secrets are masked. */
  readonly value: unknown;
  /** `default`, a file with the line, an environment variable, or a flag. */
  readonly source: string;
  readonly default: unknown;
  /** The purpose of the setting. */
  readonly meaning: string;
  /** The valid values, as the end of a sentence that begins with "must be". */
  readonly rule: string;
  /** The possible values, for a setting with a fixed set of them; otherwise undefined. */
  readonly choices?: readonly string[];
  /**
   * When a change takes effect. `locked`: `source`, an environment variable or a flag, overrides the file and the page. `file`: it can only be changed in the settings file.
   */
  readonly apply: "now" | "start" | "file" | "locked";
  /** The value set on this page; undefined if none. */
  readonly set?: unknown;
  /** The value at the next start, if it differs. */
  readonly next?: unknown;
}

export interface SettingsReport {
  readonly settings: readonly SettingInForce[];
  /** The file with the values set on this page; null if the node cannot be changed. */
  readonly file: string | null;
  /** The settings file; null if there is none. */
  readonly settings_file: string | null;
  /** Whether other nodes share the state; each has its own settings. */
  readonly is_shared: boolean;
  /** The settings that the node left out because they prevented its start; null if none. */
  readonly refused: RefusedSettings | null;
}

/** Settings of the page with which the node could not start. */
export interface RefusedSettings {
  readonly keys: readonly string[];
  readonly reason: string;
  /** The file to which they were moved. */
  readonly file: string;
}

/** The effect of a change of settings. */
export interface SettingsChanged {
  /** Settings that are in force now. */
  readonly applied: readonly string[];
  /** Settings that take effect at the next start. */
  readonly at_start: readonly string[];
  /** Threads that were busy, and will have the new values as soon as they respond. */
  readonly late: readonly string[];
}
