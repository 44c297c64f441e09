import { describe, expect, test } from "bun:test";
import { NODE_FIGURES_SECS, type NodeFigures } from "../../src/history/shared/node-figures.ts";
import { createSharedFigures } from "../../src/history/shared/shared-figures.ts";
import { ManualClock } from "../support/clock.ts";

const HOUR = 3_600;
const START = 1_790_000_000 - (1_790_000_000 % 86_400);

export interface NodeFiguresFixture extends AsyncDisposable {
  readonly nodeFigures: NodeFigures;
  sweep(name: string): Promise<number>;
  rows(table: string): Promise<number>;
}

/** Samples of one minute, each 5 seconds. */
function minuteFrom(t: number, value: (at: number) => number) {
  const times = Array.from({ length: 12 }, (_, at) => t + 5 * at);
  return {
    samples: {
      t: times,
      names: ["reads", "hub"],
      columns: [Float32Array.from(times, (_, at) => value(at)), new Float32Array(12).fill(Number.NaN)],
    },
  };
}

const wanted = (name: string) => ({ name, column: name, stat: "mean" as const });

/** The guarantees of the figures that nodes of one state share. */
export function sharedFiguresContract(
  name: string,
  open: (clock: ManualClock) => Promise<NodeFiguresFixture>,
): void {
  describe(name, () => {
    async function prepare() {
      const clock = new ManualClock(START);
      const fixture = await open(clock);
      const faults: unknown[] = [];
      const of = (nodeId: string, store = fixture.nodeFigures) =>
        createSharedFigures({ store, nodeId, clock, onFault: (cause) => faults.push(cause) });
      return { ...fixture, clock, faults, of, [Symbol.asyncDispose]: () => fixture[Symbol.asyncDispose]() };
    }
    const query = (from: number, to: number, step: "auto" | 3600 = "auto") => ({
      from,
      to,
      step,
      series: [wanted("reads"), wanted("hub"), wanted("none")],
    });

    test("each node reads the minutes and hours of all, also of a removed one", async () => {
      await using fixture = await prepare();
      const [one, two] = [fixture.of("one"), fixture.of("two")];
      for (let minute = 0; minute <= 60; minute++) {
        await one.share(minuteFrom(START + 60 * minute, () => minute));
        if (minute === 2) await two.share(minuteFrom(START + 60 * minute, (at) => at));
      }
      fixture.clock.advanceSecs(HOUR + 60);
      expect(await two.nodes()).toEqual(["one", "two"]);
      const minutes = await two.figures(query(START, START + 180), "one");
      expect(minutes).toEqual({
        ok: true,
        value: { step: 60, t: [START, START + 60, START + 120], columns: { reads: [0, 1, 2] }, gaps: [] },
      });
      const hours = await two.figures(query(START, START + HOUR, 3600), "one");
      expect(hours).toMatchObject({
        ok: true,
        value: { step: 3600, t: [START], columns: { reads: [29.5] } },
      });
      const other = await one.figures(query(START, START + HOUR), "two");
      expect(other).toMatchObject({
        ok: true,
        value: {
          t: [START + 120],
          columns: { reads: [5.5] },
          gaps: [{ from: START + 180, to: START + HOUR, why: "no_figures" }],
        },
      });
      expect(fixture.faults).toEqual([]);
    });

    test("the same minute replaces itself, and another list of series has its own names", async () => {
      await using fixture = await prepare();
      const { nodeFigures } = fixture;
      const put = (t: number, figures: Record<string, number>) =>
        nodeFigures.put({ nodeId: "n", step: 60, t, figures });
      await put(START, { a: 1, b: 2 });
      await put(START, { a: 3, b: 4 });
      await put(START + 60, { b: 5, c: Number.NaN });
      const rows = await nodeFigures.read({ nodeId: "n", step: 60, from: 0, to: START + 61, max: 9 });
      expect(rows).toEqual([
        { t: START, figures: { a: 3, b: 4 } },
        { t: START + 60, figures: { b: 5, c: Number.NaN } },
      ]);
      const newest = await nodeFigures.read({ nodeId: "n", step: 60, from: 0, to: START + 61, max: 1 });
      expect(newest.map(({ t }) => t)).toEqual([START + 60]);
      expect(await fixture.rows("node_figures")).toBe(4);
    });

    test("minutes are deleted after a day, hours after 90, and with the last of them the names of the node", async () => {
      await using fixture = await prepare();
      const { nodeFigures, clock } = fixture;
      await nodeFigures.put({ nodeId: "gone", step: 60, t: START, figures: { a: 1 } });
      await nodeFigures.put({ nodeId: "gone", step: 3600, t: START, figures: { a: 1 } });
      clock.advanceSecs(NODE_FIGURES_SECS[60]);
      expect(await fixture.sweep("node_figures")).toBe(0);
      clock.advanceSecs(HOUR);
      expect(await fixture.sweep("node_figures")).toBe(1);
      clock.advanceSecs(NODE_FIGURES_SECS[3600]);
      expect(await fixture.sweep("node_figures")).toBe(2);
      expect(await fixture.rows("node_figures")).toBe(0);
    });

    test("what cannot be stored is dropped, and nothing queues while the state does not respond", async () => {
      await using fixture = await prepare();
      let calls = 0;
      const { promise, reject } = Promise.withResolvers<void>();
      const away: NodeFigures = {
        ...fixture.nodeFigures,
        put: () => {
          calls += 1;
          return promise;
        },
      };
      const shared = fixture.of("one", away);
      const first = shared.share(minuteFrom(START, () => 1));
      for (let minute = 1; minute < 10; minute++)
        await shared.share(minuteFrom(START + 60 * minute, () => 1));
      expect(calls).toBe(1);
      reject(new Error("away"));
      await first;
      expect(fixture.faults.map(String)).toEqual(["Error: away"]);
    });
  });
}
