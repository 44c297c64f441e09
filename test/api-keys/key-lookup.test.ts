import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { ApiKeyStore } from "../../src/api-keys/api-key-store.ts";
import { createKeyLookup, type KeyLookup } from "../../src/api-keys/key-lookup.ts";
import { createKeyText, keySecret } from "../../src/api-keys/key-text.ts";
import { NodeSignals } from "../../src/cluster/node-signals.ts";
import { StateUnavailable } from "../../src/db/state/unavailable.ts";
import { ManualClock } from "../support/clock.ts";
import { ownersBy } from "../support/owners.ts";
import { openStateFile } from "../support/state-file.ts";
import { localStores } from "../support/state-stores.ts";
import { apiKeyItems } from "./api-key-items.ts";

const NOW_SECS = 1_000_000;
const LIMITS = { unitsPerMinute: 100, writesPerMinute: 10 };

let file: ReturnType<typeof openStateFile>;
let clock: ManualClock;
let monotonicMs: number;
let custody: Uint8Array;
/** The node whose lookup is tested: what it learns of others, and whether its state responds in time. */
let signals: NodeSignals;
let isAway: boolean;
let lookup: KeyLookup;
let store: ApiKeyStore;

const key = apiKeyItems.makeItem(2, { ownerFid: 7, secrets: [], createdAt: 1, updatedAt: 1 });
const text = createKeyText(key.prefix);

beforeEach(async () => {
  file = openStateFile();
  clock = new ManualClock(NOW_SECS);
  monotonicMs = 0;
  custody = key.custody;
  signals = new NodeSignals();
  isAway = false;
  store = localStores(file.db, { clock }).apiKeys;
  lookup = createKeyLookup({
    rulesVersionOf: async () => 0,
    store: {
      findBySecret: async (digest, nowSecs) => {
        if (isAway) throw new StateUnavailable("PostgreSQL does not respond");
        return store.findBySecret(digest, nowSecs);
      },
    },
    owners: ownersBy(() => custody),
    clock,
    limits: LIMITS,
    memory: signals,
    monotonicMs: () => monotonicMs,
  });
});
afterEach(() => file[Symbol.dispose]());

/** Stores the key, and lets a read find it once. */
async function use(expiry: { readonly key?: number; readonly secret?: number } = {}): Promise<void> {
  const secret = { ...keySecret(text, NOW_SECS), expiresAt: expiry.secret ?? null };
  await store.create({ ...key, expiresAt: expiry.key ?? null, secrets: [secret] }, 10);
  expect(await lookup.findForRead(text)).toMatchObject({ apiKeyId: key.apiKeyId });
}

const isKnown = () => lookup.known(text) !== undefined;
const faultOfRead = () =>
  lookup.findForRead(text).then(
    () => undefined,
    (cause: unknown) => cause,
  );

describe("a key found by a read", () => {
  test("is used for two seconds without the store, and longer while the store does not respond", async () => {
    await use();
    monotonicMs = 1_999;
    expect(isKnown()).toBe(true);
    monotonicMs = 2_000;
    expect(isKnown()).toBe(false);
    isAway = true;
    expect(await lookup.findForRead(text)).toMatchObject({ apiKeyId: key.apiKeyId });
    // Whatever changes something asks the store.
    expect(lookup.find(text)).rejects.toBeInstanceOf(StateUnavailable);
  });

  test("is not used after the machine was suspended, which the monotonic clock does not show", async () => {
    await use();
    monotonicMs = 10;
    clock.advanceSecs(2);
    expect(isKnown()).toBe(false);
    expect(await lookup.findForRead(text)).toMatchObject({ apiKeyId: key.apiKeyId });
    clock.advanceSecs(-1);
    expect(isKnown()).toBe(true);
    clock.advanceSecs(-5);
    expect(isKnown()).toBe(false);
  });

  test("is not used once another node has restricted the key", async () => {
    await use();
    isAway = true;
    signals.forgetKeys();
    expect(isKnown()).toBe(false);
    expect(await faultOfRead()).toBeInstanceOf(StateUnavailable);
  });

  test("is forgotten once the store does not find it, also while the store does not respond after that", async () => {
    await use();
    const { ownerFid, apiKeyId } = key;
    expect(await store.delete({ id: apiKeyId, ownerFid, nowSecs: NOW_SECS })).toBeUndefined();
    expect(await lookup.findForRead(text)).toBeUndefined();
    expect(isKnown()).toBe(false);
    isAway = true;
    expect(await faultOfRead()).toBeInstanceOf(StateUnavailable);
  });

  test("is not used while the node has no lease: it may have missed a deletion", async () => {
    await use();
    signals.actFor(1_000, process.hrtime.bigint() - 2_000_000_000n);
    expect(isKnown()).toBe(false);
    // A state that responds is asked each time.
    expect(await lookup.findForRead(text)).toMatchObject({ apiKeyId: key.apiKeyId });
    expect(isKnown()).toBe(false);
    isAway = true;
    expect(await faultOfRead()).toBeInstanceOf(StateUnavailable);
    signals.actFor(60_000, process.hrtime.bigint());
    expect(await lookup.findForRead(text)).toMatchObject({ apiKeyId: key.apiKeyId });
  });

  test("is not remembered by a read that began before the change", async () => {
    await use();
    const found = store.findBySecret;
    store = {
      ...store,
      async findBySecret(digest, nowSecs) {
        const before = await found(digest, nowSecs);
        signals.forgetKeys();
        return before;
      },
    };
    await lookup.findForRead(text);
    expect(isKnown()).toBe(false);
  });

  test.each([
    ["the key", { key: NOW_SECS + 1 }],
    ["its secret", { secret: NOW_SECS + 1 }],
  ])("ends when %s expires, whatever the store does", async (_, expiry) => {
    await use(expiry);
    isAway = true;
    expect(isKnown()).toBe(true);
    clock.advanceSecs(1);
    expect(isKnown()).toBe(false);
    expect(await lookup.findForRead(text)).toBeUndefined();
  });

  test("stops working under a new custody address, while the store does not respond without saying that it has ended", async () => {
    await use();
    custody = new Uint8Array(20).fill(9);
    isAway = true;
    expect(await faultOfRead()).toBeInstanceOf(StateUnavailable);
    isAway = false;
    expect(await lookup.findForRead(text)).toBeUndefined();
  });
});
