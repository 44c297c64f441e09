import { expect, test } from "bun:test";
import { setImmediate as turn } from "node:timers/promises";
import { ReceiveOrder } from "../../../src/hub/receive/receive-order.ts";
import { frame, opening } from "../../support/hub-clients/raw-http2.ts";

const PING = frame("ping", 0, 0, Buffer.alloc(8));
const PINGS = Buffer.concat(Array<Buffer>(4_000).fill(PING));

/** A connection of a client, which counts what is forwarded. */
function open(order: ReceiveOrder, client: string) {
  const state = { forwarded: 0, isPaused: false, ends: 0 };
  const place = order.open(client, {
    forward: ({ length }) => {
      state.forwarded += length;
    },
    end: () => {
      state.ends += 1;
    },
    pause: () => {
      state.isPaused = true;
    },
    resume: () => {
      state.isPaused = false;
    },
  });
  place.receive(opening());
  const opened = state.forwarded;
  return { state, place, pings: () => (state.forwarded - opened) / PING.length };
}

test("clients get equal parts of the thread, also beside one that had it alone before, and whatever its number of connections", async () => {
  const order = new ReceiveOrder();
  const first = [open(order, "first"), open(order, "first"), open(order, "first")];
  const sum = () => first.reduce((total, { pings }) => total + pings(), 0);
  for (const { place } of first) for (let n = 0; n < 4; n++) place.receive(PINGS);
  while (sum() < 8_000) await turn();
  const second = open(order, "second");
  for (let n = 0; n < 3; n++) second.place.receive(PINGS);
  const before = sum();
  while (second.pings() < 2_000) await turn();
  expect(sum() - before).toBeWithin(1_500, 2_500);
});

test("a client that sends more than the thread can do is not read meanwhile, on any connection; others are", async () => {
  const order = new ReceiveOrder();
  const [busy, idle, other] = [open(order, "one"), open(order, "one"), open(order, "other")];
  let sent = 0;
  for (; !busy.state.isPaused; sent += 1) busy.place.receive(PINGS);
  expect(sent * PINGS.length).toBeWithin(1024 * 1024, 1.2 * 1024 * 1024);
  expect([idle.state.isPaused, other.state.isPaused]).toEqual([true, false]);
  expect(open(order, "one").state.isPaused).toBe(true);
  while (busy.pings() < sent * 4_000) await turn();
  expect([busy.state.isPaused, idle.state.isPaused]).toEqual([false, false]);
});

test("when many clients do so, each may have less; the end of their connections frees all", async () => {
  const order = new ReceiveOrder();
  const all = Array.from({ length: 100 }, (_, n) => open(order, `${n}`));
  for (const { place } of all) for (let n = 0; n < 12; n++) place.receive(PINGS);
  expect(all.every(({ state }) => state.isPaused)).toBe(true);
  const quiet = open(order, "quiet");
  quiet.place.receive(PING);
  expect(quiet.state.isPaused).toBe(false);
  while (quiet.pings() < 1) await turn();
  for (const { place } of all) place.close();
  const next = open(order, "0");
  for (let n = 0; n < 10; n++) next.place.receive(PINGS);
  expect(next.state.isPaused).toBe(false);
});

test("a connection ends after all of its bytes, and not at all once it is closed", async () => {
  const order = new ReceiveOrder();
  const [ended, closed] = [open(order, "ended"), open(order, "closed")];
  for (const { place } of [ended, closed]) {
    place.receive(PINGS);
    place.end();
  }
  expect([ended.state.ends, closed.state.ends]).toEqual([0, 0]);
  closed.place.close();
  while (ended.state.ends === 0) await turn();
  expect([ended.pings(), closed.state.ends]).toEqual([4_000, 0]);
});
