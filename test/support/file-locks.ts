import { readFileSync, statSync } from "node:fs";

/** Only Linux lists the locks of all processes. */
export const CAN_LIST_LOCKS: boolean = process.platform === "linux";

/** The paths, of some, on which a process holds POSIX locks. */
export function lockedFiles(pid: number, paths: readonly string[]): string[] {
  const lines = readFileSync("/proc/locks", "utf8").split("\n");
  const inodes = new Set(
    lines.flatMap((line) => {
      const [, kind, , , holder, file = ""] = line.split(/\s+/);
      return kind === "POSIX" && Number(holder) === pid ? [Number(file.split(":").at(-1))] : [];
    }),
  );
  return paths.filter((path) => inodes.has(statSync(path).ino));
}

/** The files of a database that SQLite holds locks on while a connection in WAL mode has read from it. */
export function lockFilesOf(database: string): string[] {
  return [database, `${database}-shm`];
}
