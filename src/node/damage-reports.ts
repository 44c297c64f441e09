import { type Damage, type DatabaseFile, recoveryOf } from "../db/sqlite/storage-error.ts";
import type { Logger } from "../runtime/logger.ts";

/** The damage that threads have found in the databases of the node. Only a restart, with another file, clears it. */
export interface DamageReports {
  note(damage: Damage): void;
  /** SQLite's description of the first damage of a database; undefined for one that is whole as far as it was read. */
  of(database: Damage["database"]): string | undefined;
}

/** @param databases those of the node. Damage of other files, such as a copy for a backup, does not count. */
export function createDamageReports(databases: readonly DatabaseFile[], log: Logger): DamageReports {
  const found = new Map<string, string>();
  return {
    note({ database, file, reason }) {
      if (found.has(database) || !databases.some((own) => own.file === file)) return;
      found.set(database, reason);
      log.error({ database, reason, remedy: recoveryOf({ database, file }) }, "Found damage in the database");
    },
    of: (database) => found.get(database),
  };
}
