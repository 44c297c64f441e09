import { statSync } from "node:fs";
import { reasonOf, UserError } from "../lib/failure.ts";

const ROOT = 0;

/** A user of the system and a group. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Turns a process of root into one of the user and the group that a directory belongs to, for good and with all its threads and
 * children. What it creates belongs to that user from the start: after chown, kill -9 at the wrong moment would leave a file
 * that the user cannot open. Does nothing for other users, for a directory of root, and for one that is missing.
 *
 * @returns the user that the process has become.
 * @throws UserError when the process lacks the capabilities for it.
 */
export function becomeOwnerOf(dir: string): SystemUser | undefined {
  if (process.geteuid?.() !== ROOT) return undefined;
  const found = statSync(dir, { throwIfNoEntry: false });
  if (!found || found.uid === ROOT) return undefined;
  const { uid, gid } = found;
  try {
    // Those of root.
    process.setgroups?.([gid]);
    process.setgid?.(gid);
    process.setuid?.(uid);
  } catch (cause) {
    throw new UserError(
      `${dir} belongs to the user ${uid}, and root may not become that user here: ${reasonOf(cause)}. Run the command as that user`,
      { cause },
    );
  }
  return { uid, gid };
}
