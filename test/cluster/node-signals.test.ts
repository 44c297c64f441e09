import { expect, test } from "bun:test";
import { deliveryGate, NodeSignals, sendPermissionOf } from "../../src/cluster/node-signals.ts";
import { PAUSABLE } from "../../src/cluster/switch-store.ts";

test("threads that share the memory see the pauses, the fence and the offset of the clock", () => {
  const main = new NodeSignals();
  const other = new NodeSignals(main.shared);
  expect(PAUSABLE.filter((name) => other.isPaused(name))).toEqual([]);
  main.setPaused(["sends", "signed"]);
  expect(PAUSABLE.filter((name) => other.isPaused(name))).toEqual(["signed", "sends"]);
  main.setPaused([]);
  expect(PAUSABLE.filter((name) => other.isPaused(name))).toEqual([]);
  main.clockOffsetMs = -3_600_000.4;
  expect(other.clockOffsetMs).toBe(-3_600_000);
});

test("a node without a lease is never fenced, and one with a lease is from its end until it is renewed", () => {
  const main = new NodeSignals();
  const other = new NodeSignals(main.shared);
  expect(other.isFenced()).toBe(false);
  const now = process.hrtime.bigint();
  main.actFor(60_000, now);
  expect(other.isFenced()).toBe(false);
  main.actFor(6_000, now - 7_000_000_000n);
  expect(other.isFenced()).toBe(true);
  expect([sendPermissionOf(other)(), deliveryGate(other).isOpen()]).toEqual(["isolated", false]);
  main.actFor(6_000, process.hrtime.bigint());
  expect([sendPermissionOf(other)(), deliveryGate(other).isOpen()]).toEqual(["granted", true]);
  main.setPaused(["sends"]);
  expect([sendPermissionOf(other)(), deliveryGate(other).isOpen()]).toEqual(["paused", true]);
});

test("a lease that replaces one that was lost has another number in each thread before the node may act again", () => {
  const main = new NodeSignals();
  const other = new NodeSignals(main.shared);
  const number = other.leaseNumber;
  main.actFor(6_000, process.hrtime.bigint() - 7_000_000_000n);
  expect([other.isFenced(), other.leaseNumber]).toEqual([true, number]);
  main.countLease();
  expect([other.isFenced(), other.leaseNumber]).toEqual([true, number + 1]);
  main.actFor(6_000, process.hrtime.bigint());
  expect([other.isFenced(), other.leaseNumber]).toEqual([false, number + 1]);
});

test("a thread that starts later, and whose monotonic clock starts then, is fenced at the same time", async () => {
  const main = new NodeSignals();
  await Bun.sleep(300);
  const worker = new Worker(new URL("./processes/fence.worker.ts", import.meta.url).href);
  const isFencedThere = () =>
    new Promise<boolean>((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(main.shared);
    });
  const now = process.hrtime.bigint();
  main.actFor(60_000, now);
  expect(await isFencedThere()).toBe(false);
  main.actFor(100, now - 99_000_000n);
  while (!main.isFenced()) await Bun.sleep(1);
  main.tick();
  expect(await isFencedThere()).toBe(true);
  worker.terminate();
});
