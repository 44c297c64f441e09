import { describe, expect, test } from "bun:test";
import { openDeliveryBench } from "../../support/deliveries.ts";
import { until } from "../../support/manual-time.ts";
import { startReceiver } from "../../support/receiver.ts";

const bodiesOf = (receiver: { requests: readonly { body: string }[] }) =>
  receiver.requests.map(({ body }) => body);

describe("while the gate is closed", () => {
  /** A gate, and how many wait for it. */
  function openGate() {
    let isOpen = true;
    const waiting: (() => void)[] = [];
    const signals: (AbortSignal | undefined)[] = [];
    return {
      waiting,
      signals,
      gate: {
        isOpen: () => isOpen,
        opened(signal?: AbortSignal) {
          signals.push(signal);
          return new Promise<void>((resolve) => waiting.push(resolve));
        },
      },
      set(next: boolean) {
        isOpen = next;
        if (isOpen) for (const resolve of waiting.splice(0)) resolve();
      },
    };
  }

  test("nothing is claimed or called, and one wait covers every wake; then all is sent", async () => {
    await using bench = openDeliveryBench();
    await using receiver = startReceiver();
    const hook = await bench.addWebhook("a", receiver.port);
    const { gate, waiting, set } = openGate();
    let claims = 0;
    set(false);
    await bench.start({
      gate,
      watch: (queue) => ({
        claim: (request) => {
          claims += 1;
          return queue.claim(request);
        },
      }),
    });
    for (const body of ["0", "1", "2"]) await bench.publish([hook], body);
    bench.time.advanceMs(600_000);
    await until(() => waiting.length > 0);
    expect([claims, waiting.length]).toEqual([0, 1]);
    set(true);
    await bench.settled(hook, 3);
    set(false);
    await bench.publish([hook], "3");
    await until(() => waiting.length > 0);
    expect(waiting).toHaveLength(1);
    set(true);
    await bench.settled(hook, 4);
    expect(bodiesOf(receiver).sort()).toEqual(["0", "1", "2", "3"]);
  });

  test("stop ends the wait for it", async () => {
    await using bench = openDeliveryBench();
    const hook = await bench.addWebhook("a", 1);
    const { gate, signals, set } = openGate();
    set(false);
    await bench.start({ gate });
    await bench.publish([hook], "{}");
    await until(() => signals.length > 0);
    expect(signals.map((signal) => signal?.aborted)).toEqual([false]);
    await bench.stop();
    expect(signals.map((signal) => signal?.aborted)).toEqual([true]);
  });

  test("what was claimed when it closed is given back, not called, and sent when it opens", async () => {
    await using bench = openDeliveryBench();
    await using receiver = startReceiver();
    const hook = await bench.addWebhook("a", receiver.port);
    const { gate, waiting, set } = openGate();
    const undone: string[] = [];
    await bench.start({
      gate,
      watch: (queue) => ({
        async claim(request) {
          const claimed = await queue.claim(request);
          set(false);
          return claimed;
        },
        unclaim: (deliveries) => {
          undone.push(...deliveries.map(({ body }) => body));
          return queue.unclaim(deliveries);
        },
      }),
    });
    await bench.publish([hook], "0");
    await until(() => waiting.length > 0 && undone.length > 0);
    expect([undone, receiver.requests]).toEqual([["0"], []]);
    await bench.stop();
    await bench.start();
    await bench.settled(hook, 1);
    expect(receiver.requests).toHaveLength(1);
  });

  test("what was claimed ahead is given back while it is closed, and all is sent once it opens", async () => {
    await using bench = openDeliveryBench();
    const { gate, waiting, set } = openGate();
    let isFirst = true;
    await using receiver = startReceiver({
      respond({ body }) {
        if (body === "40" && isFirst) set(false);
        isFirst &&= body !== "40";
        return new Response("ok");
      },
    });
    const hook = await bench.addWebhook("a", receiver.port);
    const claimed: string[] = [];
    const undone: string[] = [];
    const running = await bench.start({
      gate,
      watch: (queue) => ({
        async claim(request) {
          const found = await queue.claim(request);
          claimed.push(...(found?.deliveries ?? []).map(({ body }) => body));
          return found;
        },
        unclaim: (deliveries) => {
          undone.push(...deliveries.map(({ body }) => body));
          return queue.unclaim(deliveries);
        },
      }),
    });
    await bench.publish([hook], ...Array.from({ length: 100 }, (_, n) => `${n}`));
    await until(async () => waiting.length > 0 && (await running.stats()).inFlight === 0);
    const called = new Set(bodiesOf(receiver));
    const uncalled = claimed.filter((body) => !called.has(body));
    expect(uncalled.length).toBeGreaterThan(0);
    expect(undone.toSorted()).toEqual(uncalled.toSorted());
    set(true);
    await bench.settled(hook, 100);
    expect(receiver.requests).toHaveLength(100);
  });

  test("a delivery whose claim returns while it is closed is sent once it opens", async () => {
    await using bench = openDeliveryBench();
    await using receiver = startReceiver();
    const hook = await bench.addWebhook("a", receiver.port);
    const { gate, waiting, set } = openGate();
    let isFirst = true;
    await bench.start({
      gate,
      watch: (queue) => ({
        async claim(request) {
          const claimed = await queue.claim(request);
          if (isFirst) set(false);
          isFirst = false;
          return claimed;
        },
      }),
    });
    await bench.publish([hook], "0");
    await until(() => waiting.length > 0);
    expect(receiver.requests).toEqual([]);
    set(true);
    await bench.settled(hook, 1);
  });
});
