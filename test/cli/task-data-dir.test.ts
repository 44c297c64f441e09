import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { compiledFile } from "../support/compiled-program.ts";
import { tempDir } from "../support/program.ts";

const SERVICE = 65_534;

describe.skipIf(process.getuid?.() !== 0)("a command of root on the data directory of another user", () => {
  const dir = tempDir();
  const dataDir = join(dir.path, "data");
  const closed = join(dir.path, "closed");
  const program = join(dir.path, "svc");

  async function svc(...args: string[]) {
    // The working directory is closed to the other user, as that of root is.
    const child = Bun.spawn([program, "--data-dir", dataDir, ...args], {
      cwd: closed,
      stdout: "ignore",
      stderr: "pipe",
    });
    return { errors: await new Response(child.stderr).text(), exitCode: await child.exited };
  }

  beforeAll(() => {
    chmodSync(dir.path, 0o755);
    mkdirSync(closed, { mode: 0o700 });
    mkdirSync(dataDir);
    chownSync(dataDir, SERVICE, SERVICE);
    cpSync(compiledFile, program);
  });
  afterAll(() => dir[Symbol.dispose]());

  test("creates files of that user", async () => {
    const made = await svc("migrate", "--new-state");
    expect([made.exitCode, made.errors]).toEqual([
      0,
      expect.stringContaining("Became the user of the data directory"),
    ]);
    const files = readdirSync(dataDir);
    expect(files).toContain("index.db");
    expect(files).toContain("state.db");
    for (const file of files) {
      const { uid, gid } = statSync(join(dataDir, file));
      expect([file, uid, gid]).toEqual([file, SERVICE, SERVICE]);
    }
  });

  test("names a file that this user cannot read", async () => {
    const backup = join(closed, "backup");
    const { errors, exitCode } = await svc("restore", "--from", backup);
    expect(exitCode).toBe(1);
    expect(errors).toContain("Became the user of the data directory");
    expect(errors).toContain(backup);
    expect(errors).toContain("EACCES: permission denied");
  });
});
