import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** The rooms whose code runs in processes that have a database open, without those that only read settings or sources. */
const FILES = ["{db,node,ingest,upstream,import,push,cluster,runtime,lib}/**/*.ts", "cli/{doctor,init}/*.ts"];

/** What opens a descriptor by itself. */
const OPENS =
  /import \{[^}]*\b(open|openSync|createReadStream|createWriteStream|readFile(Sync)?|writeFile(Sync)?|appendFile(Sync)?|copyFile(Sync)?|cp(Sync)?|truncate(Sync)?|realpath(Sync)?)\b[^}]*\} from "node:fs(\/promises)?"|Bun\.(file|write|mmap)\(/;

/** The files that open others, and which. */
const OPENERS: Readonly<Record<string, string>> = {
  "cluster/node-id.ts": "the id of the node",
  "db/postgres/migrations.embedded.ts": "sources, unless the program is compiled",
  "db/sqlite/lost-log.ts": "the shared memory of a database, before the first connection",
  "db/sqlite/read-ahead.ts": "a database, and never closes it",
  "db/sqlite/wal-frames.ts": "a log, which carries no lock",
  "db/sqlite/write-ahead-log.ts": "a log, which carries no lock",
  "import/channel-registry.ts": "a list of channels",
  "import/estimate-file.ts": "a file of records",
  "import/record-file.ts": "a file of records",
  "import/resume.ts": "a file of records",
  "import/write-records.ts": "a file of records",
  "runtime/files.ts":
    "a file that it has just created; directories and files of its callers that no connection has open",
  "node/signers/master-keys.ts": "the file of a key",
  "node/snapshot/pack-file.ts": "a copy of a database whose connection is closed",
  "node/snapshot/places/directory-place.ts": "the files of a snapshot",
  "node/snapshot/restore-snapshot.ts": "the mark of a restore",
  "push/tokens/transfer/token-file.ts": "a file of tokens",
  "runtime/data-dir.ts": "the file with the pid",
  "runtime/process.ts": "the limits of the process",
  "upstream/chain/forks.ts": "certificates of two blocks for one height",
  "cli/doctor/data-directory.ts": "a file of its own",
  "cli/doctor/machine.ts": "the limits of the system",
  "cli/init/write-files.ts": "settings",
};

/**
 * POSIX drops every lock of a process on a file when the process closes any descriptor of it. A database or its shared memory
 * that is opened beside SQLite is therefore without locks, and the next process that closes it deletes the log under the node.
 */
test("a file that opens others is listed with what it opens: no database or its shared memory that it closes", async () => {
  const found: string[] = [];
  for (const files of FILES)
    for await (const path of new Bun.Glob(files).scan(join(ROOT, "src")))
      if (OPENS.test(await Bun.file(join(ROOT, "src", path)).text())) found.push(path);
  expect(found.sort()).toEqual(Object.keys(OPENERS).sort());
});
