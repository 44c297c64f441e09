import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { PAGE_CACHE_KIB } from "../../src/db/sqlite/open.ts";

const SRC = join(import.meta.dir, "../../src");

/** What all threads of a node with one HTTP worker cache of index.db and state.db, whatever they read. */
const MAX_KIB = 128 * 1024;

/** Commands, and work that opens a database and closes it again. */
const COMMANDS = /^(?:(?:backup|compact|snapshot|start|state-check|state-copy)\/|state\/token-state)/;

/** The calls that open a connection, each with the size of its cache. */
const OPENS: readonly (readonly [call: RegExp, kib: number])[] = [
  [/openIndexWriter\(/g, PAGE_CACHE_KIB.indexWriter],
  [/openIndexReader\([^;]*indexServer/g, PAGE_CACHE_KIB.indexServer],
  [/openIndexReader\((?![^;]*indexServer)/g, PAGE_CACHE_KIB.indexReader],
  [/openState(?:Writer)?\(/g, PAGE_CACHE_KIB.stateWriter],
  // Each thread with stores of the state reads it through a connection of its own.
  [/openState(?:Stores|Reader)\((?!deps)/g, PAGE_CACHE_KIB.stateReader],
];

test("the page caches of all connections of a node have at most 128 MB together", () => {
  const sources = [...new Bun.Glob("**/*.ts").scanSync(join(SRC, "node"))]
    .filter((file) => !COMMANDS.test(file))
    .map((file) => readFileSync(join(SRC, "node", file), "utf8"));
  const opened = OPENS.map(([call, kib]) => {
    const connections = sources.reduce((sum, source) => sum + [...source.matchAll(call)].length, 0);
    return { connections, kib };
  });
  // One writer of each database, HTTP and the hub, and the threads.
  expect(opened.every(({ connections }) => connections > 0)).toBe(true);
  expect(opened.reduce((sum, { connections, kib }) => sum + connections * kib, 0)).toBeLessThanOrEqual(
    MAX_KIB,
  );
});
