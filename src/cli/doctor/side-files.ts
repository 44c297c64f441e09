import { existsSync, readdirSync } from "node:fs";
import type { Config } from "../../config/schema.ts";
import { SideDatabase } from "../../db/side/side-database.ts";
import { sideFilePath } from "../../db/side/side-file.ts";
import { HISTORY_SCHEMA } from "../../history/schema.ts";
import { reasonOf } from "../../lib/failure.ts";
import { grouped } from "../../runtime/progress-line.ts";
import { type Check, type Finding, ok, warn } from "./finding.ts";

const MB = 1_000_000;
const SET_ASIDE = /^\w+\.db\.bad-\d+$/;

/** Whether the history can be read, how large it is, and whether a damaged side file was set aside. */
export const sideFilesCheck = ({ data, history }: Config): Check => ({
  name: "history",
  run: async () => [...historyFinding(data.dir, history), ...setAside(data.dir)],
});

function historyFinding(dir: string, { enabled, max_bytes: maxBytes }: Config["history"]): Finding[] {
  const path = sideFilePath(dir, HISTORY_SCHEMA);
  if (!enabled || !existsSync(path)) return [];
  try {
    using db = SideDatabase.openReader(path, HISTORY_SCHEMA);
    const size = `${grouped(Math.ceil(db.usedBytes() / MB))} of at most ${grouped(Math.ceil(maxBytes / MB))} MB`;
    return [ok("history", `history.db can be read and has ${size}`)];
  } catch (cause) {
    return [
      warn(
        "history",
        `history.db cannot be read: ${reasonOf(cause)}`,
        "The node sets a damaged one aside and begins a new one; only the console depends on it",
      ),
    ];
  }
}

function setAside(dir: string): Finding[] {
  const found = existsSync(dir) ? readdirSync(dir).filter((name) => SET_ASIDE.test(name)) : [];
  const [first] = found;
  if (first === undefined) return [];
  const text = `${found.length === 1 ? first : `${first} and ${found.length - 1} more`} was set aside as damaged`;
  return [warn("history", text, "Look at the disk, and delete what you do not need")];
}
