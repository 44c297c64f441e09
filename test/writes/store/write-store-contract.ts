import { describe, expect, test } from "bun:test";
import type { AuditStore } from "../../../src/audit/audit-store.ts";
import type { StateNode, Sweep } from "../../../src/db/state/state-db.ts";
import type { MessageOutcome } from "../../../src/writes/outcome.ts";
import { CALL_RETENTION_SECS } from "../../../src/writes/store/write-calls.ts";
import { CLOCK_RETENTION_SECS } from "../../../src/writes/store/write-clocks.ts";
import {
  type BeginResult,
  LEASE_MS,
  type Lease,
  type NewWrite,
  type Settlement,
  WRITE_RETENTION_SECS,
  type WriteStore,
} from "../../../src/writes/store/write-store.ts";
import type { ManualClock } from "../../support/clock.ts";
import { SWEEP_MARGIN_SECS } from "../../support/state-stores.ts";

interface Fixture extends AsyncDisposable {
  readonly clock: ManualClock;
  /** The store as a process sees it; all share one state. */
  open(node?: StateNode): {
    readonly store: WriteStore;
    readonly sweeps: readonly Sweep[];
    readonly audit: AuditStore;
  };
}

const OWNER = 3;
const MAX_QUEUED = 10;
const REFUSAL = { status: 400, code: "invalid_message", message: "no" } as const;

const AUDIT = { action: "write.message", signerUuid: null, requestId: "request", address: "127.0.0.1" };

const hashOf = (n: number) => new Uint8Array(20).fill(n);

function pendingOutcome(n: number): MessageOutcome {
  return { hash: hashOf(n).toHex(), fid: 7, type: 1, state: "pending" };
}

/** A write of one message for each number. */
function newWrite(idem: string | null, ...messages: number[]): NewWrite {
  return {
    request: crypto.randomUUID(),
    ownerFid: OWNER,
    apiKeyId: "key",
    call:
      idem === null
        ? null
        : {
            ownerFid: OWNER,
            signerUuid: "",
            route: "POST /message",
            idem,
            bodyDigest: hashOf(9),
            outcomes: messages.map(pendingOutcome),
          },
    messages: messages.map((n, position) => ({
      position,
      fid: 7,
      type: 1,
      hash: hashOf(n),
      message: Uint8Array.of(n, n),
    })),
    audit: AUDIT,
  };
}

function leasesOf(result: BeginResult): readonly Lease[] {
  if (result.kind !== "leased") throw new Error(`the write is ${result.kind}`);
  return result.leases;
}

const keyOf = (idem: string) => ({ ownerFid: OWNER, signerUuid: "", route: "POST /message", idem });

const settled = (leases: readonly Lease[], result: Settlement["result"]): Settlement[] =>
  leases.map((lease) => ({ lease, result }));

const again = { kind: "again", afterMs: 1_000, accepted: true } as const;

/** The guarantees of writes on their way to the network, over any database. */
export function writeStoreContract(name: string, openFixture: () => Promise<Fixture>): void {
  describe(name, () => {
    test("a key names one write, also over nodes, and other keys other writes", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      leasesOf(await store.begin(newWrite("a", 1), MAX_QUEUED));
      const second = await store.begin(newWrite("a", 2), MAX_QUEUED);
      expect(second).toMatchObject({ kind: "known", call: { isDone: false } });
      leasesOf(await store.begin(newWrite("b", 2), MAX_QUEUED));
      expect(await store.findCall(keyOf("a"))).toMatchObject({
        outcomes: [pendingOutcome(1)],
        isDone: false,
      });
      expect(await store.findCall(keyOf("c"))).toBeUndefined();
      expect(await store.find(OWNER, hashOf(2))).toMatchObject({ state: "queued", fid: 7, type: 1 });
      expect((await store.queued()).count).toBe(2);
    });

    test("copies that begin at once, at two nodes, make one write", async () => {
      await using fixture = await openFixture();
      const nodes = [fixture.open(), fixture.open()];
      for (let round = 1; round <= 10; round++) {
        const copies = await Promise.all(
          Array.from({ length: 10 }, (_, n) =>
            nodes.map(({ store }) => store.begin(newWrite(`key ${round}`, 10 * round + n), MAX_QUEUED)),
          ).flat(),
        );
        expect(copies.filter(({ kind }) => kind === "leased").length).toBe(1);
        expect((await nodes[0]?.store.queued())?.count).toBe(round);
      }
    });

    test("the outcomes of a call are stored when all its messages are decided", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const write = newWrite("a", 1, 2);
      const [first, second] = leasesOf(await store.begin(write, MAX_QUEUED));
      if (!first || !second) throw new Error("two leases");
      await store.settle(write.request, settled([first], { kind: "merged" }));
      expect(await store.findCall(keyOf("a"))).toMatchObject({ isDone: false });
      await store.settle(
        write.request,
        settled([second], { kind: "refused", refusal: REFUSAL, isTold: true }),
      );
      expect(await store.findCall(keyOf("a"))).toMatchObject({
        isDone: true,
        outcomes: [{ state: "merged" }, { state: "refused", refusal: REFUSAL }],
      });
      expect(await store.find(OWNER, hashOf(1))).toMatchObject({ state: "merged", reason: null });
      expect(await store.find(OWNER, hashOf(2))).toBeUndefined();
      expect(await store.find(OWNER + 1, hashOf(1))).toBeUndefined();
      expect((await store.queued()).count).toBe(0);
    });

    test("a call of which everything is refused frees its key", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const write = newWrite("a", 1);
      const leases = leasesOf(await store.begin(write, MAX_QUEUED));
      await store.settle(write.request, settled(leases, { kind: "refused", refusal: REFUSAL, isTold: true }));
      expect(await store.findCall(keyOf("a"))).toBeUndefined();
      leasesOf(await store.begin(newWrite("a", 2), MAX_QUEUED));
    });

    test("a message that is refused after the response says why, for its owner", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const write = newWrite(null, 1);
      const leases = leasesOf(await store.begin(write, MAX_QUEUED));
      await store.settle(
        write.request,
        settled(leases, { kind: "refused", refusal: REFUSAL, isTold: false }),
      );
      expect(await store.find(OWNER, hashOf(1))).toMatchObject({ state: "refused", reason: "no" });
    });

    test("the audit log has the first attempt of a message, and a refusal after it, each once", async () => {
      await using fixture = await openFixture();
      const { store, audit } = fixture.open();
      const write = newWrite(null, 1, 2);
      const [first, second] = leasesOf(await store.begin(write, MAX_QUEUED));
      if (!first || !second) throw new Error("two leases");
      const outcomes = async () => {
        const entries = await audit.list(OWNER, { limit: 10, before: undefined });
        return entries.map(({ hash, outcome }) => [hash?.[0], outcome]).toSorted();
      };
      const merged = settled([first], { kind: "merged" });
      await store.settle(write.request, merged);
      await store.settle(write.request, merged);
      await store.settle(write.request, settled([second], again));
      expect(await outcomes()).toEqual([
        [1, "ok"],
        [2, "queued"],
      ]);
      fixture.clock.advanceSecs(1);
      const [claimed] = await store.claim(10);
      if (!claimed) throw new Error("claimed");
      const refused = { kind: "refused", refusal: REFUSAL, isTold: false } as const;
      await store.settle(write.request, settled([claimed], refused));
      expect(await outcomes()).toEqual([
        [1, "ok"],
        [2, "invalid_message"],
        [2, "queued"],
      ]);
      const entries = await audit.list(OWNER, { limit: 10, before: undefined });
      for (const entry of entries) expect(entry).toMatchObject({ ...AUDIT, apiKeyId: "key", userFid: 7 });
    });

    test("merged messages of a call can be leased again, by one process", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const write = newWrite("a", 1, 2);
      await store.settle(
        write.request,
        settled(leasesOf(await store.begin(write, MAX_QUEUED)), { kind: "merged" }),
      );
      const held = await store.mergedMessages(write.request);
      expect(held.map(({ position, message }) => [position, ...message])).toEqual([
        [0, 1, 1],
        [1, 2, 2],
      ]);
      const reopened = await Promise.all([
        store.reopen(write.request, [1]),
        store.reopen(write.request, [1]),
      ]);
      const [lease, ...none] = reopened.flat();
      expect(none).toEqual([]);
      expect(await store.findCall(keyOf("a"))).toMatchObject({
        request: write.request,
        isDone: false,
        outcomes: [{ state: "merged" }, { state: "pending" }],
      });
      if (lease) await store.settle(write.request, settled([lease], { kind: "merged" }));
      expect(await store.findCall(keyOf("a"))).toMatchObject({
        isDone: true,
        outcomes: [{ state: "merged" }, { state: "merged" }],
      });
      // Nothing can be repeated of a write without a key.
      const other = newWrite(null, 3);
      await store.settle(
        other.request,
        settled(leasesOf(await store.begin(other, MAX_QUEUED)), { kind: "merged" }),
      );
      expect(await store.mergedMessages(other.request)).toEqual([]);
    });

    test("a full queue accepts nothing, and stores no key", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      leasesOf(await store.begin(newWrite(null, 1, 2), 3));
      expect(await store.begin(newWrite("a", 3, 4), 3)).toEqual({ kind: "full" });
      expect(await store.findCall(keyOf("a"))).toBeUndefined();
      leasesOf(await store.begin(newWrite("a", 3), 3));
    });

    test("a leased message is no one else's until its lease ends, then one process claims it", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const write = newWrite(null, 1);
      const leases = leasesOf(await store.begin(write, MAX_QUEUED));
      expect(await store.claim(10)).toEqual([]);
      fixture.clock.advanceSecs(LEASE_MS / 1000);
      const [claimed, ...none] = (await Promise.all([store.claim(10), store.claim(10)])).flat();
      expect(none).toEqual([]);
      expect(claimed).toMatchObject({
        request: write.request,
        ownerFid: OWNER,
        accepted: false,
        attempts: 0,
      });
      expect(claimed && Buffer.from(claimed.message)).toEqual(Buffer.of(1, 1));
      // The first lease has ended: what it led to changes nothing.
      await store.settle(write.request, settled(leases, { kind: "merged" }));
      expect(await store.find(OWNER, hashOf(1))).toMatchObject({ state: "queued" });
    });

    test("a message is due again after its pause, and remembers an OK", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const write = newWrite("a", 1);
      await store.settle(write.request, settled(leasesOf(await store.begin(write, MAX_QUEUED)), again));
      expect(await store.findCall(keyOf("a"))).toMatchObject({
        isDone: true,
        outcomes: [{ state: "queued" }],
      });
      fixture.clock.advanceSecs(999 / 1000);
      expect(await store.claim(10)).toEqual([]);
      fixture.clock.advanceSecs(1 / 1000);
      const [claimed] = await store.claim(10);
      expect(claimed).toMatchObject({ accepted: true, attempts: 1 });
      if (!claimed) throw new Error("claimed");
      await store.settle(write.request, settled([claimed], { ...again, accepted: false }));
      fixture.clock.advanceSecs(1);
      const [last] = await store.claim(10);
      expect(last).toMatchObject({ accepted: true, attempts: 2 });
      if (last) await store.settle(write.request, settled([last], { kind: "merged" }));
      // The response of the call stays what it was.
      expect(await store.findCall(keyOf("a"))).toMatchObject({
        isDone: true,
        outcomes: [{ state: "queued" }],
      });
    });

    test("messages of a process that has died are due at once", async () => {
      await using fixture = await openFixture();
      const dead = fixture.open({ nodeId: "dead", bootId: crypto.randomUUID(), slot: 1 });
      const { store } = fixture.open({ nodeId: "next", bootId: crypto.randomUUID(), slot: 2 });
      leasesOf(await dead.store.begin(newWrite(null, 1), MAX_QUEUED));
      leasesOf(await store.begin(newWrite(null, 2), MAX_QUEUED));
      expect(await store.endLeasesOfTheDead()).toBe(1);
      expect((await store.claim(10)).map(({ hash }) => hash[0])).toEqual([1]);
    });

    test("a message that was seen in the index has ended, also while it is leased", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const write = newWrite(null, 1, 2);
      const leases = leasesOf(await store.begin(write, MAX_QUEUED));
      await store.markMerged(leases.map(({ seq }) => seq));
      expect(await store.find(OWNER, hashOf(1))).toMatchObject({ state: "merged" });
      await store.settle(write.request, settled(leases, again));
      expect(await store.queued()).toEqual({ count: 0, oldestAt: null });
    });

    test("a forgotten write was never there", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const write = newWrite("a", 1);
      leasesOf(await store.begin(write, MAX_QUEUED));
      await store.forget(write.request);
      expect(await store.findCall(keyOf("a"))).toBeUndefined();
      expect(await store.find(OWNER, hashOf(1))).toBeUndefined();
    });

    test("times of a slot rise by a second, those of other slots do not", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const [a, b] = [Uint8Array.of(3, 1), Uint8Array.of(3, 2)];
      const empty = { heldAt: -1 };
      expect(await store.takeTimes(7, [{ slot: a, ...empty }], 1000, 300)).toEqual([1000]);
      expect(await store.takeTimes(7, [{ slot: a, ...empty }], 1000, 300)).toEqual([1001]);
      expect(await store.signedAt(7, [b, a])).toEqual([-1, 1001]);
      expect(
        await store.takeTimes(
          7,
          [
            { slot: b, heldAt: 1200 },
            { slot: a, heldAt: 1000 },
          ],
          1000,
          300,
        ),
      ).toEqual([1201, 1002]);
      expect(await store.takeTimes(8, [{ slot: a, ...empty }], 1000, 300)).toEqual([1000]);
      fixture.clock.advanceSecs(CLOCK_RETENTION_SECS);
      expect(await store.takeTimes(7, [{ slot: a, ...empty }], 1000, 300)).toEqual([1000]);
    });

    test("no time is taken when one of them would be too far ahead", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const [a, b] = [Uint8Array.of(3, 1), Uint8Array.of(3, 2)];
      const slots = [
        { slot: a, heldAt: -1 },
        { slot: b, heldAt: 1300 },
      ];
      expect(await store.takeTimes(7, slots, 1000, 300)).toBeUndefined();
      expect(await store.takeTimes(7, [{ slot: a, heldAt: -1 }], 1000, 300)).toEqual([1000]);
    });

    test("times that are taken at once differ", async () => {
      await using fixture = await openFixture();
      const { store } = fixture.open();
      const slot = Uint8Array.of(3, 1);
      const taken = await Promise.all(
        Array.from({ length: 8 }, () => store.takeTimes(7, [{ slot, heldAt: -1 }], 1000, 300)),
      );
      expect(taken.map((times) => times?.[0] ?? 0).toSorted()).toEqual(
        Array.from({ length: 8 }, (_, n) => 1000 + n),
      );
    });

    test("keys are swept after a day, ended messages after a week, queued ones never", async () => {
      await using fixture = await openFixture();
      const { store, sweeps } = fixture.open();
      const sweep = async () => {
        for (const { name, step } of sweeps) if (/write/.test(name)) await step(100);
      };
      const ended = newWrite("a", 1);
      await store.settle(
        ended.request,
        settled(leasesOf(await store.begin(ended, MAX_QUEUED)), { kind: "merged" }),
      );
      leasesOf(await store.begin(newWrite(null, 2), MAX_QUEUED));
      fixture.clock.advanceSecs(CALL_RETENTION_SECS - 1);
      await sweep();
      expect(await store.findCall(keyOf("a"))).toBeDefined();
      fixture.clock.advanceSecs(SWEEP_MARGIN_SECS + 2);
      await sweep();
      expect(await store.findCall(keyOf("a"))).toBeUndefined();
      expect(await store.find(OWNER, hashOf(1))).toBeDefined();
      fixture.clock.advanceSecs(WRITE_RETENTION_SECS);
      await sweep();
      expect(await store.find(OWNER, hashOf(1))).toBeUndefined();
      expect(await store.find(OWNER, hashOf(2))).toMatchObject({ state: "queued" });
    });
  });
}
