import { expect, test } from "bun:test";
import { runService, runTask } from "../../src/cli/common.ts";
import { UserError } from "../../src/lib/failure.ts";
import { systemClock } from "../../src/runtime/clock.ts";
import type { Common } from "../../src/runtime/common.ts";
import { createMetrics } from "../../src/runtime/figures/metrics.ts";
import { createLogger } from "../../src/runtime/log/logger.ts";
import { createShutdown } from "../../src/runtime/shutdown.ts";
import { configWith } from "../runtime/config.ts";

/** The common dependencies of a process, the events of its one part, and its log. */
function recorded(): { common: Common; did: string[]; open: () => void; logged: string[] } {
  const config = configWith();
  const logged: string[] = [];
  const log = createLogger(config, { destination: { write: (line) => void logged.push(line) } });
  const shutdown = createShutdown({ deadlineMs: 5000, log, routineLevel: "info" });
  const did: string[] = [];
  const open = () => {
    did.push("opened");
    shutdown.add("part", () => void did.push("closed"));
  };
  return {
    common: { config, log, metrics: createMetrics(config), clock: systemClock, shutdown },
    did,
    open,
    logged,
  };
}

test("a service runs until its shutdown and exits with the shutdown's code", async () => {
  const { common, did, open } = recorded();
  const running = runService(common, async () => open());
  await Bun.sleep(0);
  expect(did).toEqual(["opened"]);
  void common.shutdown.start("test");
  expect(await running).toBe(0);
  expect(did).toEqual(["opened", "closed"]);
});

test("a failing start closes its opened parts, logs no shutdown, then throws its fault", async () => {
  const { common, did, open, logged } = recorded();
  const fault = new UserError("no such thing");
  const running = runService(common, async () => {
    open();
    throw fault;
  });
  expect(await running.catch((thrown: unknown) => thrown)).toBe(fault);
  expect({ did, logged }).toEqual({ did: ["opened", "closed"], logged: [] });
});

test("a shutdown during the start waits for the start, and is not a failure", async () => {
  const { common, did, open } = recorded();
  const running = runService(common, async () => {
    open();
    void common.shutdown.start("SIGTERM");
    await Bun.sleep(0);
    did.push("noticed");
    common.shutdown.signal.throwIfAborted();
  });
  expect(await running).toBe(0);
  expect(did).toEqual(["opened", "noticed", "closed"]);
});

test("a finished task closes everything and succeeds", async () => {
  const { common, did, open } = recorded();
  expect(await runTask(common, async () => open())).toBe(0);
  expect(did).toEqual(["opened", "closed"]);
});

test("a failing task closes everything and throws its fault", async () => {
  const { common, did, open } = recorded();
  const fault = new UserError("bad file");
  const running = runTask(common, async () => {
    open();
    throw fault;
  });
  expect(await running.catch((thrown: unknown) => thrown)).toBe(fault);
  expect(did).toEqual(["opened", "closed"]);
});

test("a task that is stopped early exits with 75", async () => {
  const { common, did, open } = recorded();
  const running = runTask(common, async () => {
    open();
    void common.shutdown.start("SIGTERM");
    await Bun.sleep(0);
    common.shutdown.signal.throwIfAborted();
    did.push("went on");
  });
  expect(await running).toBe(75);
  expect(did).toEqual(["opened", "closed"]);
});

test("a failed start leaves no handler of signals, so that the next one gets them", async () => {
  const before = process.listenerCount("SIGTERM");
  const { common } = recorded();
  const running = runService(common, async () => {
    throw new UserError("no such thing");
  });
  await expect(running).rejects.toThrow("no such thing");
  expect(process.listenerCount("SIGTERM")).toBe(before);
});
