import { expect, test } from "bun:test";
import { join } from "node:path";

/** Asks on a platform without binaries whether tests with PostgreSQL can run. */
const ASK = `Object.defineProperty(process, "platform", { value: "plan9" });
  const { HAS_POSTGRES } = await import(${JSON.stringify(join(import.meta.dir, "../../support/postgres/server.ts"))});
  console.log(HAS_POSTGRES);`;

function ask(env: Record<string, string>) {
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, "-e", ASK], {
    env: { PATH: process.env.PATH ?? "", ...env },
  });
  return { out: stdout.toString(), errors: stderr.toString(), exitCode };
}

test("without a server, tests with PostgreSQL are skipped with one line, and fail with CI=true", () => {
  const skipped = ask({});
  expect([skipped.out, skipped.exitCode]).toEqual(["false\n", 0]);
  expect(skipped.errors).toMatch(/^Tests with PostgreSQL are skipped: .*SVC_TEST_POSTGRES_URL.*\n$/);
  const failed = ask({ CI: "true" });
  expect([failed.out, failed.exitCode]).toEqual(["", 1]);
  expect(failed.errors).toContain("SVC_TEST_POSTGRES_URL");
});

test("a server that is named is used, also with CI=true", () => {
  const given = { SVC_TEST_POSTGRES_URL: "postgres://127.0.0.1:1" };
  expect(ask({ CI: "true", ...given })).toEqual({ out: "true\n", errors: "", exitCode: 0 });
});
