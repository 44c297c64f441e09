import { expect, test } from "bun:test";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");

/** The rooms whose code runs in processes that have a database open, without those that only read settings or sources. */
const ROOMS = "{db,node,ingest,upstream,import,push,cluster,runtime,setup,lib}";

/** What opens a descriptor by itself. */
const OPENS =
  /import \{[^}]*\b(open|openSync|createReadStream|createWriteStream|readFile(Sync)?|writeFile(Sync)?|appendFile(Sync)?|copyFile(Sync)?|cp(Sync)?|truncate(Sync)?|realpath(Sync)?)\b[^}]*\} from "node:fs(\/promises)?"|Bun\.(file|write|mmap)\(/;

/** The files that open others, and which. */
const OPENERS: Readonly<Record<string, string>> = {
  "cluster/node-id.ts": "the id of the node",
  "db/index/bulk/open-bulk-build.ts": "the log of the index, which carries no lock",
  "db/index/deferred-sync.ts": "the log of the index, which carries no lock",
  "db/postgres/migrations.macro.ts": "sources, when the program is built",
  "db/sqlite/wal-header.ts": "a log, which carries no lock",
  "import/channels/import-registry.ts": "a list of channels",
  "import/estimate-file.ts": "a file of records",
  "import/record-reader.ts": "a file of records",
  "import/record-writer.ts": "a file of records",
  "import/resume.ts": "a file of records",
  "lib/private-file.ts": "a file that it has just created",
  "lib/sync-path.ts": "what its callers name: directories, and files that no connection has open",
  "node/signers/master-keys.ts": "the file of a key",
  "node/snapshot/create-snapshot.ts": "the manifest",
  "node/snapshot/manifest.ts": "the manifest",
  "node/snapshot/pack-file.ts": "a copy of a database whose connection is closed",
  "node/snapshot/restore-snapshot.ts": "the mark of a restore",
  "push/tokens/transfer/token-file.ts": "a file of tokens",
  "runtime/data-dir.ts": "the file with the pid",
  "runtime/descriptors.ts": "the limits of the process",
  "setup/doctor/disk-speed.ts": "a file of its own",
  "setup/doctor/machine.ts": "the limits of the system",
  "setup/init/write-files.ts": "settings",
};

/**
 * POSIX drops every lock of a process on a file when the process closes any descriptor of it. A database or its shared memory
 * that is opened beside SQLite is therefore without locks, and the next process that closes it deletes the log under the node.
 */
test("a file that opens others is listed with what it opens: never a database or its shared memory", async () => {
  const found: string[] = [];
  for await (const path of new Bun.Glob(`${ROOMS}/**/*.ts`).scan(join(ROOT, "src")))
    if (OPENS.test(await Bun.file(join(ROOT, "src", path)).text())) found.push(path);
  expect(found.sort()).toEqual(Object.keys(OPENERS).sort());
});
