import { indexPath } from "../../db/index/database.ts";
import { dropScratchFile } from "../../db/index/verify/scratch-file.ts";
import { dropCompactFile } from "../compact/compact-file.ts";

/** Deletes the files that killed processes left in a data directory, which this process has locked. */
export function dropLeftovers(dataDir: string): void {
  dropCompactFile(indexPath(dataDir));
  dropScratchFile(indexPath(dataDir));
}
