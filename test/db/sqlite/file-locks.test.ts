import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { openBulkBuild } from "../../../src/db/index/bulk/open-bulk-build.ts";
import { indexPath, openIndexReader, openIndexWriter } from "../../../src/db/index/database.ts";
import { createDeferredSync } from "../../../src/db/index/log/deferred-sync.ts";
import { openAsIs } from "../../../src/db/sqlite/open.ts";
import { openState, openStateReader, openStateWriter, statePath } from "../../../src/db/state/database.ts";
import { openDataDir } from "../../../src/runtime/data-dir.ts";
import { CAN_LIST_LOCKS, lockedFiles, lockFilesOf } from "../../support/file-locks.ts";
import { tempDir } from "../../support/program.ts";

/**
 * POSIX drops all locks of a process on a file when the process closes any descriptor of it. SQLite knows its own descriptors;
 * one that is opened beside it leaves the database without locks, and another process then deletes the log under the node.
 */
describe.skipIf(!CAN_LIST_LOCKS)("the locks of an open database survive", () => {
  const held = (path: string) => lockedFiles(process.pid, lockFilesOf(path));

  const uses: Record<string, (dir: string) => void> = {
    "a second writer of the index": (dir) => openIndexWriter(indexPath(dir))[Symbol.dispose](),
    "a second writer of the state": (dir) => openState(statePath(dir))[Symbol.dispose](),
    "the state writer of a node": (dir) => openStateWriter(statePath(dir))[Symbol.dispose](),
    readers: (dir) => {
      openIndexReader(indexPath(dir))[Symbol.dispose]();
      openStateReader(statePath(dir))[Symbol.dispose]();
    },
    "a connection to the file as it is": (dir) => {
      for (const readonly of [true, false]) {
        openAsIs({ database: "index", file: indexPath(dir) }, { readonly }).close();
        openAsIs({ database: "state", file: statePath(dir) }, { readonly }).close();
      }
    },
    "syncs of the log on another thread": (dir) => {
      using db = openIndexWriter(indexPath(dir));
      createDeferredSync({ db, onFault: (cause) => expect(cause).toBeUndefined() })[Symbol.dispose]();
    },
    "a bulk build": (dir) => {
      using db = openIndexWriter(indexPath(dir));
      const bulk = openBulkBuild(db);
      bulk.sync();
      while (bulk.step());
    },
  };

  test.each(Object.entries(uses))("%s", (_, use) => {
    using dir = tempDir();
    using _index = openIndexWriter(indexPath(dir.path));
    using _state = openState(statePath(dir.path));
    const files = [indexPath(dir.path), statePath(dir.path)];
    expect(files.flatMap(held)).toEqual(files.flatMap(lockFilesOf));
    use(dir.path);
    expect(files.flatMap(held)).toEqual(files.flatMap(lockFilesOf));
  });

  test("as does that of the data directory when it is locked a second time", () => {
    using dir = tempDir();
    const dataDir = openDataDir(dir.path);
    expect(() => openDataDir(dir.path)).toThrow("in use");
    expect(lockedFiles(process.pid, [dataDir.lockFile])).toEqual([join(dir.path, "lock")]);
    dataDir.release();
  });
});
