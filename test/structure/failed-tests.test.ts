import { expect, test } from "bun:test";
import { failedFiles, failedTests } from "../../.ci/failed-tests.ts";

const error = (message: string) => `1 | test("a", () => {
2 |   expect(count).toBe(1);
                  ^
error: ${message}

Expected: 1
Received: 2

      at <anonymous> (/svc/test/a.test.ts:2:17)`;

const log = (...parts: readonly string[]) => `bun test v1.4.5 2x PARALLEL

${parts.join("\n")}


1 tests failed:
(fail) room > a [2.00ms]

 1 pass
 1 fail
Ran 2 tests across 2 files. [1.00s]
error: script "test" exited with code 1`;

test("of a failed test, the file, the error and its name are printed, without what passed or was printed before", () => {
  const text = failedTests(
    log(
      "test/a.test.ts:",
      "(pass) room > b [1.00ms]",
      "a line of a program",
      error("not equal"),
      "(fail) room > a [2.00ms]",
    ),
  );
  expect(text).toBe(`test/a.test.ts:\n${error("not equal")}\n(fail) room > a [2.00ms]`);
});

test("an error that follows the name of its test is printed, but none of a file in which all tests have theirs", () => {
  const text = failedTests(
    log(
      "test/a.test.ts:",
      "(fail) room > a [2.00ms]",
      error("behind"),
      "(pass) room > b [1.00ms]",
      "test/c.test.ts:",
      error("that a passing test prints"),
      "(pass) room > d [1.00ms]",
    ),
  );
  expect(text).toBe(`test/a.test.ts:\n(fail) room > a [2.00ms]\n\ntest/a.test.ts:\n${error("behind")}`);
});

test("a test without an error is printed with the reason that bun gives, and what it printed", () => {
  const timeout = "(fail) room > a [50.00ms]\n  ^ this test timed out after 50ms.";
  expect(failedTests(log("test/a.test.ts:", "killed 1 dangling process", timeout))).toBe(
    `test/a.test.ts:\nkilled 1 dangling process\n${timeout}`,
  );
});

test("an error between tests is printed", () => {
  const between = `# Unhandled error between tests\n-------------------------------\n${error("late")}`;
  expect(failedTests(log("test/a.test.ts:", between, "(pass) room > b [1.00ms]"))).toContain("error: late");
});

test("an error has at most 60 lines, from its start and its end, and 20 tests are printed", () => {
  const long = error(Array.from({ length: 500 }, (_, n) => `line ${n}`).join("\n"));
  const text = failedTests(
    log("test/a.test.ts:", ...Array.from({ length: 25 }, (_, n) => `${long}\n(fail) room > ${n} [2.00ms]`)),
  );
  expect(text).toContain("line 0\n");
  expect(text).toContain("at <anonymous> (/svc/test/a.test.ts:2:17)\n(fail) room > 19 [2.00ms]");
  expect(text).not.toContain("room > 20");
  expect(text.endsWith("… and 5 more")).toBe(true);
  expect(text.split("\n").length).toBeLessThan(20 * 65);
});

test("of a run that ended without a failed test, the last lines are printed", () => {
  const lines = Array.from({ length: 100 }, (_, n) => `line ${n}`);
  expect(failedTests(lines.join("\n")).split("\n")).toEqual(lines.slice(40));
});

test("the files to repeat are those with a failed test or an error outside a test, each once", () => {
  const files = failedFiles(
    log(
      "test/a.test.ts:",
      error("not equal"),
      "(fail) room > a [2.00ms]",
      "test/b.test.ts:",
      "(pass) room > b [1.00ms]",
      "::group::test/c.test.ts:",
      "# Unhandled error between tests",
      error("outside"),
      "test/a.test.ts:",
      "(fail) room > c [2.00ms]",
    ),
  );
  expect(files).toEqual(["test/a.test.ts", "test/c.test.ts"]);
});
