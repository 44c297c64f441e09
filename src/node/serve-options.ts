import type { SetUp } from "../console/setup/set-up.ts";
import type { RecentLines } from "../runtime/log/recent-lines.ts";
import type { SettingFiles } from "./console/setting-changes.ts";
import type { PrepareOptions } from "./start/prepare-databases.ts";

/** The addresses of a running node. */
export interface Served {
  readonly httpUrl: string;
  /** Undefined if the hub is disabled. */
  readonly hubAddress: string | undefined;
  readonly isDemo: boolean;
  /** False for a node that has no data and follows no other. */
  readonly isSetUp: boolean;
  /** The one-time code that opens the set-up of an empty node. */
  readonly setUpCode: string | undefined;
}

export interface ServeOptions extends Omit<PrepareOptions, "starting"> {
  /** The source of each setting, by `section.name`. */
  readonly settingSources: ReadonlyMap<string, string>;
  /** Undefined if the operator's page cannot change any. */
  readonly settingFiles?: SettingFiles;
  /** Undefined if the program does not restart by itself. */
  readonly setUp?: SetUp;
  /** Receives the log lines of level info and above of all threads; contains those of this one. */
  readonly lines: RecentLines;
}
