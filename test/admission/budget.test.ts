import { expect, test } from "bun:test";
import fc from "fast-check";
import { Budget, type Hold } from "../../src/admission/budget.ts";
import { BUDGETS, type BudgetTerms, roomFor, roomWithin } from "../../src/admission/budgets.ts";

const terms = { unit: "bytes", total: 100, perClient: 40 };

test("caps each client at its share and all clients at the total, and frees what ends", () => {
  const budget = new Budget(terms);
  const hold = (client: string, amount: number) => {
    const opened = budget.open(client);
    return { opened, shortage: opened.grow(amount) };
  };
  const first = hold("a", 40);
  expect(first.shortage).toBeUndefined();
  expect(hold("a", 1).shortage).toBe("client");
  expect(hold("b", 40).shortage).toBeUndefined();
  expect(hold("c", 21).shortage).toBe("total");
  expect(hold("c", 20).shortage).toBeUndefined();
  expect(budget.use()).toEqual({ held: 100, refused: { client: 1, total: 1 } });

  first.opened.shrinkTo(30);
  expect(hold("a", 10).shortage).toBeUndefined();
  first.opened.end();
  first.opened.end();
  expect(first.opened.grow(1)).toBe("client");
  expect(budget.use().held).toBe(70);
});

test("clients that use up a budget leave room for small holders, a quarter of it at most", () => {
  const budget = new Budget({ unit: "calls", total: 100, perClient: 50, reservedPerClient: 2 });
  expect(budget.open("a").grow(50)).toBeUndefined();
  expect(budget.open("b").grow(50)).toBeUndefined();
  expect(budget.open("c").grow(3)).toBe("total");
  expect(budget.open("c").grow(2)).toBeUndefined();
  expect(budget.open("c").grow(1)).toBe("total");
  const few = Array.from({ length: 30 }, (_, n) => budget.open(`few ${n}`).grow(1));
  expect(few.filter((shortage) => shortage === undefined)).toHaveLength(23);
  expect(budget.use().held).toBe(125);
});

test("connections never exceed the setting, and the last fifth is for clients without one", () => {
  for (const max of [1, 2, 3, 4, 5, 6, 64, 256, 1000]) {
    const rooms = [1, 2].map((own) => roomFor(own, roomWithin(max)));
    expect(rooms).toEqual([max, max - Math.floor(max / 5)]);
  }
});

/** Where fewer clients can take all of a budget, it keeps something for others. */
const FEW = 20;

test.each(
  Object.entries<BudgetTerms>(BUDGETS).filter(
    // What is refused for lack of it is served at once.
    ([name, { total, perClient }]) => total / perClient <= FEW && name !== "lateRefusals",
  ),
)("%s, which a few clients can take whole, keep something for another one", (_name, terms) => {
  const budget = new Budget(terms);
  for (let n = 0; n * terms.perClient < terms.total; n += 1)
    expect(budget.open(`few ${n}`).grow(Math.min(terms.perClient, terms.total - n * terms.perClient))).toBe(
      undefined,
    );
  expect(budget.open("few 0").grow(1)).toBe("client");
  expect(budget.open("another").grow(Math.max(1, terms.reservedPerClient ?? 0))).toBeUndefined();
});

test("with more clients at once than entries the bounds hold, and nothing is left over", () => {
  const budget = new Budget({ unit: "requests", total: 20_000, perClient: 20_000 });
  const holds = Array.from({ length: 20_000 }, (_, n) => budget.open(`client ${n}`));
  expect(holds.filter((hold) => hold.grow(1) !== undefined)).toEqual([]);
  expect(budget.open("one more").grow(1)).toBe("total");
  for (const hold of holds) hold.end();
  expect(budget.use().held).toBe(0);
  expect(budget.open("one more").grow(20_000)).toBeUndefined();
});

test("over random histories two threads' views agree with a plain count", () => {
  const step = fc.record({
    client: fc.constantFrom("a", "b", "c", "d"),
    amount: fc.integer({ min: 1, max: 50 }),
    kind: fc.constantFrom("grow", "shrink", "end"),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
      const one = new Budget(terms);
      const other = new Budget(terms, one.shared);
      const open: { client: string; hold: Hold }[] = [];
      const heldBy = (client?: string) =>
        open.reduce(
          (sum, each) => sum + (client === undefined || each.client === client ? each.hold.amount : 0),
          0,
        );
      steps.forEach(({ client, amount, kind }, n) => {
        const last = open.findIndex((each) => each.client === client);
        const hold = open[last]?.hold;
        if (kind === "grow") {
          const grown = hold && amount % 2 === 0 ? hold : (n % 2 === 0 ? one : other).open(client);
          const fitsClient = heldBy(client) + amount <= terms.perClient;
          const fitsAll = heldBy() + amount <= terms.total;
          expect(grown.grow(amount)).toBe(fitsClient ? (fitsAll ? undefined : "total") : "client");
          if (grown !== hold) open.push({ client, hold: grown });
        } else if (kind === "shrink") hold?.shrinkTo(amount);
        else if (hold) {
          hold.end();
          open.splice(last, 1);
        }
        expect(other.use().held).toBe(heldBy());
      });
    }),
    { numRuns: 200 },
  );
});

test("threads that take at once never hold more than the total", async () => {
  const budget = new Budget({ unit: "bytes", total: 1200, perClient: 1200 });
  const code = `
    import { Budget } from ${JSON.stringify(Bun.resolveSync("../../src/admission/budget.ts", import.meta.dir))};
    self.onmessage = ({ data: { terms, shared } }) => {
      const budget = new Budget(terms, shared);
      let taken = 0;
      for (let n = 0; n < 1000; n += 1) if (budget.open("client " + n % 5).grow(1) === undefined) taken += 1;
      postMessage(taken);
    };`;
  const url = URL.createObjectURL(new Blob([code], { type: "application/typescript" }));
  const workers = Array.from({ length: 3 }, () => new Worker(url));
  const taken = await Promise.all(
    workers.map(
      (worker) =>
        new Promise<number>((resolve, reject) => {
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = reject;
          worker.postMessage({ terms: budget.terms, shared: budget.shared });
        }),
    ),
  );
  for (const worker of workers) worker.terminate();
  expect(taken.reduce((sum, n) => sum + n, 0)).toBe(1200);
  expect(budget.use().held).toBe(1200);
});
