import { expect, test } from "bun:test";
import { CommanderError } from "commander";
import { toExit } from "../../src/cli/to-exit.ts";
import { asStorageError } from "../../src/db/sqlite/storage-error.ts";
import { RetryableError, UserError } from "../../src/lib/failure.ts";
import { openDataDir } from "../../src/runtime/data-dir.ts";
import { sqliteError } from "../support/storage-faults.ts";
import { emptyDir, run } from "./run.ts";

const withCode = (code: string) => Object.assign(new Error("words"), { code });

test.each([
  ["a fault of the operator", new UserError("words"), 1, "error: words\n"],
  ["a fault that may pass", new RetryableError("words"), 75, "error: words\n"],
  ["a port in use", withCode("EADDRINUSE"), 75, "error: words\n"],
  ["a port that may not be used", withCode("EACCES"), 1, "error: words\n"],
  ["help", new CommanderError(0, "commander.helpDisplayed", ""), 0, ""],
  ["a usage error", new CommanderError(1, "commander.unknownOption", ""), 1, ""],
  ["no error at all", "words", 75, "error: words\n"],
])("%s decides the exit code, and only an unforeseen fault shows a stack", (_, fault, exitCode, message) => {
  expect(toExit(fault)).toEqual({ exitCode, message });
});

test.each([
  ["full", 75],
  ["busy", 75],
  ["io", 75],
  ["corrupt", 1],
  ["readOnly", 1],
] as const)("a database fault (%s) ends with %d, names the file and says what to do", (fault, exitCode) => {
  const where = { database: "state", file: "/data/state.db" } as const;
  const ending = toExit(asStorageError(where, sqliteError(fault)));
  expect(ending.exitCode).toBe(exitCode);
  expect(ending.message).toMatch(/^error: \/data\/state\.db: [^\n]+ \(SQLITE_\w+\)\. [A-Z][^\n]+\.\n$/);
});

test("an unexpected fault exits with 75 and prints its stack", () => {
  const { exitCode, message } = toExit(new Error("words"));
  expect(exitCode).toBe(75);
  expect(message).toStartWith("internal error: Error: words\n    at ");
});

test("a command on a data directory in use exits with 75 and names the process that uses it", async () => {
  using dir = emptyDir();
  const held = openDataDir(dir.path);
  const { exitCode, errors } = await run(["migrate", "--data-dir", dir.path]);
  held.release();
  expect(exitCode).toBe(75);
  expect(errors).toContain(`data directory ${dir.path} is in use by process ${process.pid}; `);
});
