import { expect, test } from "bun:test";
import { createLogger } from "../../src/runtime/log/logger.ts";
import { createShutdown } from "../../src/runtime/shutdown.ts";
import { configWith } from "./config.ts";
import { startProcess } from "./processes/start.ts";

/** A shutdown, what its disposers did, and what it logged. */
function recorded(deadlineMs = 5000) {
  const logged: { msg: string; part?: string; left?: string[] }[] = [];
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) };
  const shutdown = createShutdown({
    deadlineMs,
    log: createLogger(configWith(), { destination }),
    routineLevel: "info",
  });
  const did: string[] = [];
  return { shutdown, did, logged };
}

const never = () => new Promise<void>(() => {});

test("disposers run one after the other, the last registered first, each waited for", async () => {
  const { shutdown, did } = recorded();
  for (const name of ["lock", "index", "http"]) {
    shutdown.add(name, async () => {
      did.push(`${name} closing`);
      await Promise.resolve();
      did.push(`${name} closed`);
    });
  }
  expect(await shutdown.start("test")).toBe(0);
  expect(did).toEqual([
    "http closing",
    "http closed",
    "index closing",
    "index closed",
    "lock closing",
    "lock closed",
  ]);
});

test("the signal aborts before the first disposer runs", async () => {
  const { shutdown, did } = recorded();
  shutdown.signal.addEventListener("abort", () => did.push("aborted"));
  shutdown.add("loop", () => void did.push(`disposed, aborted: ${shutdown.signal.aborted}`));
  expect(shutdown.signal.aborted).toBe(false);
  await shutdown.start("test");
  expect(did).toEqual(["aborted", "disposed, aborted: true"]);
});

test("a disposer that fails, at once or later, is logged by name, the rest still run, and the exit code is 1", async () => {
  const { shutdown, did, logged } = recorded();
  shutdown.add("first", () => void did.push("first"));
  shutdown.add("throws", () => {
    throw new Error("boom");
  });
  shutdown.add("rejects", () => Promise.reject(new Error("bang")));
  shutdown.add("last", () => void did.push("last"));
  expect(await shutdown.start("test")).toBe(1);
  expect(did).toEqual(["last", "first"]);
  const failures = logged.filter(({ msg }) => msg === "Failed to close a part");
  expect(failures.map(({ part }) => part)).toEqual(["rejects", "throws"]);
});

test("it starts once: later calls get the same end", async () => {
  const { shutdown, did } = recorded();
  shutdown.add("part", () => void did.push("part"));
  const codes = await Promise.all([shutdown.start("one"), shutdown.start("two", 75), shutdown.finished]);
  expect(codes).toEqual([0, 0, 0]);
  expect(did).toEqual(["part"]);
});

test("a failure reason keeps its exit code when everything closes in time", async () => {
  const { shutdown } = recorded();
  expect(await shutdown.start("fault", 75)).toBe(75);
});

test("the deadline cuts a disposer that hangs: exit code 1, and the log names it and what was left", async () => {
  const { shutdown, did, logged } = recorded(20);
  shutdown.add("index", () => void did.push("index"));
  shutdown.add("stuck", never);
  shutdown.add("http", () => void did.push("http"));
  expect(await shutdown.start("test")).toBe(1);
  expect(did).toEqual(["http"]);
  expect(logged.at(-1)).toMatchObject({ part: "stuck", left: ["index"] });
});

test("nothing is closed under work that is under way, however that work ends", async () => {
  const { shutdown, did } = recorded();
  const stopped = Promise.withResolvers<void>();
  shutdown.signal.addEventListener("abort", () => {
    queueMicrotask(() => {
      did.push("work stopped");
      stopped.reject(shutdown.signal.reason);
    });
  });
  shutdown.track("import", stopped.promise);
  shutdown.track("done before", Promise.resolve());
  shutdown.add("index", () => void did.push("index closed"));
  expect(await shutdown.start("test")).toBe(0);
  expect(did).toEqual(["work stopped", "index closed"]);
});

test("the deadline cuts work that ignores the signal", async () => {
  const { shutdown, logged } = recorded(20);
  shutdown.track("deaf", never());
  expect(await shutdown.start("test")).toBe(1);
  expect(logged.at(-1)).toMatchObject({ part: "deaf" });
});

test("what is registered while the shutdown runs, or after it, is closed too", async () => {
  const { shutdown, did } = recorded();
  shutdown.add("first", () => void did.push("first"));
  shutdown.add("late maker", () => shutdown.add("late", () => void did.push("late")));
  await shutdown.start("test");
  shutdown.add("after", () => void did.push("after"));
  expect(did).toEqual(["late", "first", "after"]);
});

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s closes everything in order and ends with 0",
  async (signal) => {
    await using child = await startProcess("shutdown.ts", ["clean"]);
    child.kill(signal);
    expect(await child.exited).toBe(0);
    expect(child.lines()).toEqual(["ready", "closed http", "closed index"]);
  },
);

test("a signal ends a process that hangs at the deadline, with 1", async () => {
  await using child = await startProcess("shutdown.ts", ["hang", "50"]);
  child.kill("SIGTERM");
  expect(await child.exited).toBe(1);
  expect(child.lines()).toEqual(["ready", "closing stuck"]);
});

test.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const)("a second signal (%s) ends the process at once, with %d", async (signal, exitCode) => {
  await using child = await startProcess("shutdown.ts", ["hang", "60000"]);
  child.kill("SIGTERM");
  await child.line("closing stuck");
  child.kill(signal);
  expect(await child.exited).toBe(exitCode);
});

test.each(["throw", "reject"])(
  "an uncaught error (%s) is logged, closes everything and ends with 75",
  async (kind) => {
    await using child = await startProcess("shutdown.ts", [kind]);
    expect(await child.exited).toBe(75);
    expect(child.lines()).toEqual(["ready", "closed http", "closed index"]);
    expect(await child.errors()).toContain('"level":"fatal"');
  },
);
