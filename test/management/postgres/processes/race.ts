/** A node in a race of signed operations: `bun race.ts <url of the database>`. */

import { createApps } from "../../../../src/apps/app-store.ts";
import { createNonces } from "../../../../src/auth/nonce-store.ts";
import { readPostgresUrl } from "../../../../src/config/postgres-url.ts";
import { openPgPools } from "../../../../src/db/postgres/pools.ts";
import { createWebhooks } from "../../../../src/webhooks/store/webhook-store.ts";
import { appItems } from "../../../apps/app-items.ts";
import { ManualClock } from "../../../support/clock.ts";
import { silentLog } from "../../../support/log.ts";
import { serveRounds } from "../../../support/postgres/racers.ts";
import { stateDbOf } from "../../../support/postgres/state-db.ts";
import { webhookItems } from "../../../webhooks/store/webhook-items.ts";
import { makeSecret } from "../../owned-store-contract.ts";

/** What a node does in a round: all at once. */
export type Round =
  | { readonly kind: "spend"; readonly nonces: number; readonly tries: number; readonly round: number }
  | {
      readonly kind: "create";
      readonly first: number;
      readonly count: number;
      readonly ownerFid: number;
      readonly cap: number;
    }
  | {
      readonly kind: "rotate";
      readonly first: number;
      readonly count: number;
      readonly ownerFid: number;
      readonly max: number;
      readonly app: number;
    };

const connect = readPostgresUrl(process.argv[2] ?? "");
if (!connect.ok) throw new Error(connect.error);
const pools = openPgPools({
  settings: { connect: connect.value, schema: "svc", timeoutMs: 5_000 },
  applicationName: "race",
  connections: { main: 6 },
  log: silentLog,
});
const db = stateDbOf(pools, new ManualClock(100));
const nonces = createNonces(db);
const apps = createApps(db);
const webhooks = createWebhooks(db);

const numbers = (first: number, count: number) => Array.from({ length: count }, (_, n) => first + n);

/** Returns how often each nonce was spent here. */
async function spend({ nonces: count, tries, round }: Extract<Round, { kind: "spend" }>): Promise<number[]> {
  const times = { nowSecs: 100, validUntil: 400, expiresAt: 700 };
  const spendOne = async (n: number) => {
    const nonce = new Uint8Array(32).fill(n);
    const spent = await Promise.all(
      Array.from({ length: tries }, () => nonces.spend({ fid: round, nonce }, times)),
    );
    return spent.filter(Boolean).length;
  };
  return Promise.all(numbers(0, count).map(spendOne));
}

/** Returns how many apps and webhooks were created here. */
async function create({
  first,
  count,
  ownerFid,
  cap,
}: Extract<Round, { kind: "create" }>): Promise<number[]> {
  const base = { ownerFid, secrets: [], createdAt: 100, updatedAt: 100 };
  const made = async (store: { create(item: never, cap: number): Promise<unknown> }, items: unknown[]) => {
    const outcomes = await Promise.all(items.map((item) => store.create(item as never, cap)));
    return outcomes.filter((outcome) => outcome !== "cap-reached").length;
  };
  return Promise.all([
    made(
      apps,
      numbers(first, count).map((n) => appItems.makeItem(n, base)),
    ),
    made(
      webhooks,
      numbers(first, count).map((n) => webhookItems.makeItem(n, base)),
    ),
  ]);
}

/** Returns how many secrets were added here. */
async function rotate(round: Extract<Round, { kind: "rotate" }>): Promise<number> {
  const claim = { id: `app-${round.app}`, ownerFid: round.ownerFid, nowSecs: 100 };
  const outcomes = await Promise.all(
    numbers(round.first, round.count).map((n) =>
      apps.rotateSecret(claim, { secret: makeSecret(n), graceEndsAt: 1_000, maxSecrets: round.max }),
    ),
  );
  return outcomes.filter((outcome) => outcome !== "too-many-secrets").length;
}

await serveRounds<Round>(async (round) => {
  switch (round.kind) {
    case "spend":
      return spend(round);
    case "create":
      return create(round);
    case "rotate":
      return rotate(round);
  }
});
