import type { SetUp } from "../console/setup/set-up.ts";
import type { RecentLines } from "../runtime/log/recent-lines.ts";
import type { SettingFiles } from "./console/setting-changes.ts";
import type { PrepareOptions } from "./start/prepare-databases.ts";

/** The addresses of a running node. */
export interface Served {
  readonly httpUrl: string;
  /** Undefined when the hub is disabled. */
  readonly hubAddress: string | undefined;
  readonly isDemo: boolean;
  /** Opens the set-up of an empty node, once. */
  readonly setUpCode: string | undefined;
}

export interface ServeOptions extends Omit<PrepareOptions, "starting"> {
  /** Where each setting comes from, by `section.name`. */
  readonly settingSources: ReadonlyMap<string, string>;
  /** Undefined where the operator's page changes none. */
  readonly settingFiles?: SettingFiles;
  /** Undefined where the program does not start again by itself. */
  readonly setUp?: SetUp;
  /** Gets the log lines of level info and above of all threads; has those of this one. */
  readonly lines: RecentLines;
}
