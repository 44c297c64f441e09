/**
 * One measurement of `bench decisions`, in a separate process. Argument: the checkout whose code decides. Its databases are
 * in memory, so commits and the checks of their files cost no CPU time here. Prints a JSON object with, for each decision,
 * its CPU time and that of its bare statements, in µs.
 */
import type { SQLQueryBindings, Statement } from "bun:sqlite";
import { join } from "node:path";
import type { StateDatabase } from "../../src/db/state/database.ts";
import type { StateStores } from "../../src/node/state/stores.ts";
import type { TokenChange } from "../../src/push/store/tokens/token-store.ts";
import type { QueuedEvent } from "../../src/webhooks/store/delivery-publications.ts";
import type { ClaimedDelivery, Settlement } from "../../src/webhooks/store/delivery-queue.ts";

/** CPU time per decision in µs, by name. */
export type DecisionCosts = Readonly<
  Record<string, { readonly micros: number; readonly bareMicros: number }>
>;

const NOW = 1_000_000;
const NOW_MS = NOW * 1000;
const LEASE_MS = 40_000;
const ROUNDS = 200;
const WARM_UP_ROUNDS = 60;
/** Number of decisions of one kind per round. */
const PER_ROUND = 64;
const MANY = 16;
const APP_ID = "benchApp11111111";
const WEBHOOK_ID = "webhook";

const [checkout = ""] = process.argv.slice(2);
const load = (path: string) => import(join(checkout, path));
const { openStateInMemory } = await load("src/db/state/database.ts");
const { localStores } = await load("test/support/state-stores.ts");
const { ManualClock } = await load("test/support/clock.ts");
const { testApp } = await load("test/support/send.ts");

interface Opened {
  readonly db: StateDatabase;
  readonly stores: StateStores;
}

async function open(): Promise<Opened> {
  const db = openStateInMemory();
  const stores = localStores(db, { clock: new ManualClock(NOW) });
  await fill(stores);
  return { db, stores };
}

/** A kind of decision. One call of `run` makes those of a round. */
interface Kind {
  readonly name: string;
  readonly decisions: number;
  run(stores: StateStores, round: number): Promise<void>;
}

const details = { url: "https://client.example/push", host: "client.example", token: "t" };
const tokenChange = (fid: number, round: number): TokenChange => ({
  appId: APP_ID,
  fid,
  clientFid: 9,
  nowSecs: NOW,
  event: round % 2 === 0 ? { name: "notifications_enabled", details } : { name: "notifications_disabled" },
});

const claim = async (stores: StateStores, max: number) => {
  const claimed = await stores.queue.claim({
    webhookId: WEBHOOK_ID,
    nowMs: NOW_MS,
    leaseEndsAtMs: NOW_MS + LEASE_MS,
    maxRetryDelayMs: 86_400_000,
    limit: { calls: 1_000_000, windowMs: 60_000, maxWaitMs: 900_000 },
    max,
    maxHoldMs: 0,
  });
  const deliveries = claimed?.deliveries ?? [];
  if (deliveries.length !== max) throw new Error("the queue is empty");
  return deliveries;
};
const settlementOf = (delivery: ClaimedDelivery): Settlement => ({
  delivery,
  attempt: { atMs: NOW_MS, status: 200, error: null, durationMs: 12, responseText: "ok" },
  verdict: { kind: "delivered" },
  holdUntilMs: null,
});
const rule = { failures: 3, runSecs: 86_400 };

const held = new WeakMap<StateStores, ClaimedDelivery[]>();
const kinds: readonly Kind[] = [
  {
    name: "a token event",
    decisions: PER_ROUND,
    async run({ tokens }, round) {
      const limit = { maxChanges: 1000, windowSecs: 3600 };
      // Few changes per fid, as within a window of the rate limit.
      const first = PER_ROUND * (Math.floor(round / 2) % 12);
      const fids = Array.from({ length: PER_ROUND }, (_, n) => first + n + 1);
      await Promise.all(fids.map((fid) => tokens.apply(tokenChange(fid, round), limit)));
    },
  },
  {
    name: "the claim of a delivery",
    decisions: PER_ROUND,
    async run(stores) {
      const all: ClaimedDelivery[] = [];
      for (let n = 0; n < PER_ROUND; n++) all.push(...(await claim(stores, 1)));
      held.set(stores, all);
    },
  },
  {
    name: "the settlement of a delivery",
    decisions: PER_ROUND,
    async run(stores) {
      for (const delivery of held.get(stores) ?? [])
        await stores.queue.settle([settlementOf(delivery)], rule);
    },
  },
  {
    name: `the claim and settlement of ${MANY}`,
    decisions: 4,
    async run(stores) {
      for (let n = 0; n < 4; n++)
        await stores.queue.settle((await claim(stores, MANY)).map(settlementOf), rule);
    },
  },
];

type Recorded = {
  readonly sql: string;
  readonly params: SQLQueryBindings[];
  readonly how: "all" | "get" | "run";
};

/** Records the statements of a connection in `into`. */
function record(db: StateDatabase, into: Recorded[]): void {
  const control = (sql: string): Recorded => ({ sql, params: [], how: "run" });
  for (const how of ["all", "get", "run"] as const) {
    const original = db[how].bind(db) as (...args: never[]) => unknown;
    Object.assign(db, {
      [how](statement: { sql: string }, ...params: SQLQueryBindings[]) {
        into.push({ sql: statement.sql, params, how });
        return original(...([statement, ...params] as never[]));
      },
    });
  }
  const transactionOf = db.transactionOf?.bind(db);
  const transaction = db.transaction.bind(db);
  const around =
    <T>(begin: (work: () => T) => T) =>
    (work: () => T) => {
      into.push(control("BEGIN IMMEDIATE"));
      const end = () => into.push(control("COMMIT"));
      const result = begin(work);
      if (result instanceof Promise) return result.finally(end) as T;
      end();
      return result;
    };
  Object.assign(db, { transaction: around(transaction) });
  if (transactionOf) Object.assign(db, { transactionOf: around(transactionOf as never) });
}

async function fill(stores: StateStores): Promise<void> {
  await stores.apps.create(testApp({ appId: APP_ID }), 10);
  const rounds = ROUNDS + WARM_UP_ROUNDS;
  const deliveries = rounds * (PER_ROUND + 4 * MANY);
  await stores.webhooks.create(
    {
      webhookId: WEBHOOK_ID,
      ownerFid: 3,
      title: "T",
      targetUrl: "https://hook.example",
      description: null,
      active: true,
      subscription: { "cast.created": { author_fids: [1] } },
      compatPrefix: null,
      health: {} as never,
      secrets: [{ uid: crypto.randomUUID(), value: "s".repeat(32), createdAt: 1, expiresAt: null }],
      createdAt: NOW - 100,
      updatedAt: NOW - 100,
    },
    1000,
  );
  const { version } = await stores.publications.changesSince(0);
  for (let from = 0; from < deliveries; from += 1000) {
    const events = Array.from(
      { length: 1000 },
      (_, n): QueuedEvent => ({
        eventId: `event-${from + n}`,
        kind: "cast.created",
        createdAt: NOW - 10,
        body: `{"n":${from + n}}`,
        webhookIds: [WEBHOOK_ID],
      }),
    );
    await stores.publications.publish({ version, nowSecs: NOW - 10, events });
  }
}

const cpuMicros = () => {
  const { user, system } = process.cpuUsage();
  return user + system;
};

const decides = await open();
const recorded = await open();
const statements: Recorded[] = [];
record(recorded.db, statements);
const bare = (await open()).db.sqlite;

const prepared = new Map<string, Statement<unknown, SQLQueryBindings[]>>();

function preparedOf(sql: string): Statement<unknown, SQLQueryBindings[]> {
  const statement = prepared.get(sql) ?? bare.prepare(sql);
  prepared.set(sql, statement);
  return statement;
}

/** Runs only the recorded statements of a round. */
function replay(): void {
  for (const { sql, params, how } of statements.splice(0)) {
    const statement = preparedOf(sql);
    if (how === "all") statement.all(...params);
    else if (how === "get") statement.get(...params);
    else statement.run(...params);
  }
}

const costs: Record<string, { micros: number; bareMicros: number }> = {};
for (let round = 0; round < ROUNDS + WARM_UP_ROUNDS; round++)
  for (const kind of kinds) {
    await kind.run(recorded.stores, round);
    const startedAt = cpuMicros();
    await kind.run(decides.stores, round);
    const decidedAt = cpuMicros();
    replay();
    const replayedAt = cpuMicros();
    if (round < WARM_UP_ROUNDS) continue;
    const cost = costs[kind.name] ?? { micros: 0, bareMicros: 0 };
    costs[kind.name] = cost;
    cost.micros += (decidedAt - startedAt) / kind.decisions / ROUNDS;
    cost.bareMicros += (replayedAt - decidedAt) / kind.decisions / ROUNDS;
  }
process.stdout.write(`${JSON.stringify(costs)}\n`);
