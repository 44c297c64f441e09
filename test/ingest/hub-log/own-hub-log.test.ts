import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type IndexDatabase, indexPath, openIndexWriter } from "../../../src/db/index/database.ts";
import { claimNetwork, logIdOf } from "../../../src/db/index/identity.ts";
import { hubLogRange } from "../../../src/db/index/log/hub-log.ts";
import { StateUnavailable } from "../../../src/db/state/unavailable.ts";
import { createIngestEngine } from "../../../src/ingest/engine.ts";
import type { NodeLogStore } from "../../../src/ingest/hub-log/node-log-store.ts";
import { createOwnHubLog, type OpenLogs, openLogs } from "../../../src/ingest/hub-log/own-hub-log.ts";
import { decodeRecord, type EncodedRecord } from "../../../src/ingest/record.ts";
import { blockOfEvent } from "../../../src/protocol/hub-event-id.ts";
import { HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { FarcasterNetwork, MessageType, UserDataType } from "../../../src/protocol/wire/generated/message.ts";
import { FollowedEvent } from "../../../src/protocol/wire/generated/upstream.ts";
import type { SetTimer } from "../../../src/runtime/clock.ts";
import { ManualClock } from "../../support/clock.ts";
import { fnameProof } from "../../support/events.ts";
import { gaslessKeyMessage, gaslessKeyRemoval } from "../../support/gasless-keys.ts";
import {
  DEFAULT_NOW_SECS,
  DEFAULT_TIMESTAMP,
  makeSigner,
  makeWallet,
  signedCast,
  signMessage,
} from "../../support/messages.ts";
import { accountRecords, accountSigner, proofRecord } from "../../support/node.ts";
import { openStateFile } from "../../support/state-file.ts";
import { localStores } from "../../support/state-stores.ts";
import { ManualTimers } from "../../support/timers.ts";

const EPOCH_MS = 1_609_459_200_000;
const firstHeightAt = (clock: ManualClock) => Math.floor((clock.nowMs() - EPOCH_MS) / 10);

/** A node's index with its log of hub events, over a state file of its own. */
function startNode() {
  const dir = mkdtempSync(join(tmpdir(), "hub-log-test-"));
  const clock = new ManualClock(DEFAULT_NOW_SECS);
  let state = openStateFile();
  let isStateAway = false;
  const nodeLogs = () => {
    if (isStateAway) throw new StateUnavailable("away");
    return localStores(state.db, { clock }).nodeLogs;
  };
  const store: NodeLogStore = {
    find: async (nodeId) => nodeLogs().find(nodeId),
    put: async (nodeId, log) => nodeLogs().put(nodeId, log),
  };
  return {
    clock,
    path: indexPath(dir),
    setStateAway: (isAway: boolean) => {
      isStateAway = isAway;
    },
    replaceState() {
      state[Symbol.dispose]();
      state = openStateFile();
    },
    /** Serves the index at the path, whatever file that is now. */
    async serve(isLogging = true, heightsPerReservation?: number, after?: SetTimer) {
      const db = openIndexWriter(indexPath(dir));
      claimNetwork(db, "mainnet");
      const logs = await openLogs({
        db,
        nodeId: "node",
        store,
        clock,
        isLogging,
        ...(heightsPerReservation && { heightsPerReservation }),
        ...(after && { after }),
        isNumbering: true,
        onFault: () => {},
      });
      return serving(db, clock, logs, isLogging);
    },
    [Symbol.dispose]() {
      state[Symbol.dispose]();
      rmSync(dir, { recursive: true });
    },
  };
}

function serving(db: IndexDatabase, clock: ManualClock, logs: OpenLogs, isLogging: boolean) {
  let signals = 0;
  const engine = createIngestEngine({
    db,
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    clock,
    onFault: (cause) => {
      throw cause;
    },
    onHubEvents: () => {
      signals += 1;
    },
    hubLog: isLogging ? createOwnHubLog({ db, logs }) : undefined,
  });
  return {
    db,
    logs,
    engine,
    merge: (...records: readonly EncodedRecord[]) =>
      engine
        .apply(records.map(decodeRecord).flatMap((record) => (record.ok ? [record.value] : [])))
        .map((outcome) => outcome?.code ?? "ok"),
    range: () => hubLogRange(db, 1),
    signals: () => signals,
    [Symbol.dispose]() {
      logs.stop();
      db[Symbol.dispose]();
    },
  };
}

interface LoggedEvent {
  readonly id: number;
  readonly type: HubEventType;
  readonly fid: number;
  readonly body: FollowedEvent["body"];
}

function eventsOf(db: IndexDatabase): LoggedEvent[] {
  return db.sqlite
    .query<{ id: number; type: HubEventType; fid: number; body: Uint8Array | null }, []>(
      "SELECT id, type, fid, body FROM hub_events ORDER BY seq",
    )
    .all()
    .map(({ body, ...event }) => ({ ...event, body: body ? FollowedEvent.decode(body).body : undefined }));
}

/** The types of the events of the newest block, without its confirmation. */
function newestTypes(db: IndexDatabase): HubEventType[] {
  const events = eventsOf(db);
  const newest = blockOfEvent(events.at(-1)?.id ?? 0);
  return events.flatMap(({ id, type, body }) => (body && blockOfEvent(id) === newest ? [type] : []));
}

const MERGE = HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE;
const PRUNE = HubEventType.HUB_EVENT_TYPE_PRUNE_MESSAGE;
const REVOKE = HubEventType.HUB_EVENT_TYPE_REVOKE_MESSAGE;
const PROOF = HubEventType.HUB_EVENT_TYPE_MERGE_USERNAME_PROOF;
const ON_CHAIN = HubEventType.HUB_EVENT_TYPE_MERGE_ON_CHAIN_EVENT;

const cast = (text: string, at = 0): EncodedRecord => ({
  kind: "message",
  bytes: signedCast(1, text, accountSigner(1), { timestamp: DEFAULT_TIMESTAMP + at }),
});

function userData(type: UserDataType, value: string, at = 0): EncodedRecord {
  const body = { $case: "userDataBody" as const, value: { type, value } };
  const data = {
    type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
    fid: 1,
    timestamp: DEFAULT_TIMESTAMP + at,
    body,
  };
  return { kind: "message", bytes: signMessage(data, accountSigner(1)) };
}

describe("events of a commit", () => {
  test("are one block: a confirmation, then on-chain events, transfers of names and merges in their order", async () => {
    using node = startNode();
    using served = await node.serve();
    served.merge(...accountRecords(1), cast("gm"));
    const events = eventsOf(served.db);
    expect(events.map(({ type }) => type)).toEqual([
      HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED,
      ON_CHAIN,
      ON_CHAIN,
      ON_CHAIN,
      PROOF,
      MERGE,
    ]);
    const [first] = events;
    expect(events.map(({ id }) => id - (first?.id ?? 0))).toEqual([0, 1, 2, 3, 4, 5]);
    expect(blockOfEvent(first?.id ?? 0)).toBe(firstHeightAt(node.clock));
  });

  test("a gasless key that is added or removed is a merge", async () => {
    using node = startNode();
    using served = await node.serve();
    served.merge(...accountRecords(1), ...accountRecords(2));
    const signer = makeSigner("gasless");
    const [added, removed] = [
      gaslessKeyMessage({ fid: 1, signer, requestFid: 2, ttlSecs: 3600, nonce: 1 }),
      gaslessKeyRemoval({ fid: 1, signer, nonce: 2, by: makeWallet("custody 1"), at: DEFAULT_TIMESTAMP }),
    ];
    for (const bytes of [added, removed]) {
      const before = eventsOf(served.db).length;
      expect(served.merge({ kind: "message", bytes })).toEqual(["ok"]);
      expect(eventsOf(served.db).length).toBeGreaterThan(before);
      expect(newestTypes(served.db)).toEqual([MERGE]);
    }
  });

  test("a refused message is not an event, and a commit without events no block", async () => {
    using node = startNode();
    using served = await node.serve();
    served.merge(...accountRecords(1), cast("gm"));
    const before = served.range();
    expect(served.merge(cast("gm"))).toEqual(["bad_request.duplicate"]);
    expect(served.range()).toEqual(before);
  });

  test("subscribers are woken up by a block with events and by a heartbeat, and by no other commit", async () => {
    using node = startNode();
    using served = await node.serve();
    const woken = (work: () => unknown) => {
      const before = served.signals();
      work();
      return served.signals() - before;
    };
    expect(woken(() => served.merge(...accountRecords(1), cast("gm")))).toBe(1);
    expect(woken(() => served.merge(cast("gm")))).toBe(0);
    expect(woken(() => served.engine.heartbeat())).toBe(1);
  });

  test("a merge lists the messages that it displaced", async () => {
    using node = startNode();
    using served = await node.serve();
    served.merge(...accountRecords(1), userData(UserDataType.USER_DATA_TYPE_BIO, "first"));
    served.merge(userData(UserDataType.USER_DATA_TYPE_BIO, "second", 1));
    const body = eventsOf(served.db).at(-1)?.body;
    expect(body?.$case === "merge" && body.value.deletedMessages.length).toBe(1);
  });

  test("a name that moves away is a transfer, and then the revoke of the name that the user showed", async () => {
    using node = startNode();
    using served = await node.serve();
    served.merge(
      ...accountRecords(1),
      ...accountRecords(2),
      userData(UserDataType.USER_DATA_TYPE_USERNAME, "user1"),
    );
    const custody = makeWallet("custody 2").address;
    expect(served.merge(proofRecord(fnameProof("user1", 2, custody, DEFAULT_NOW_SECS - 10)))).toEqual(["ok"]);
    expect(newestTypes(served.db)).toEqual([PROOF, REVOKE]);
  });

  test("a full store prunes after the merge, be it the merged message itself", async () => {
    using node = startNode();
    using served = await node.serve();
    served.merge(...accountRecords(1), ...Array.from({ length: 100 }, (_, at) => cast(`${at}`, at - 200)));
    expect(served.merge(cast("new"))).toEqual(["ok"]);
    expect(newestTypes(served.db)).toEqual([MERGE, PRUNE]);
    expect(served.merge(cast("too old", -300))).toEqual(["bad_request.prunable"]);
    expect(newestTypes(served.db)).toEqual([MERGE, PRUNE]);
    const [merged, pruned] = eventsOf(served.db).slice(-2);
    expect(merged?.body?.$case === "merge" && pruned?.body?.$case === "prune").toBe(true);
  });
});

describe("block heights", () => {
  test("continue over restarts without a hole, whatever the clock says", async () => {
    using node = startNode();
    {
      using served = await node.serve();
      served.merge(...accountRecords(1));
    }
    node.clock.advanceSecs(-86_400);
    using served = await node.serve();
    served.merge(cast("gm"));
    const { oldestId = 0, headId = 0 } = served.range() ?? {};
    expect(blockOfEvent(headId)).toBe(blockOfEvent(oldestId) + 1);
  });

  test("begin above all earlier ones when the index was deleted, also with a clock that went back a day", async () => {
    using node = startNode();
    let former = 0;
    let logId: string | undefined;
    {
      using served = await node.serve();
      served.merge(...accountRecords(1), cast("gm"));
      former = served.range()?.headId ?? 0;
      logId = logIdOf(served.db);
    }
    for (const suffix of ["", "-wal", "-shm"])
      await Bun.file(`${node.path}${suffix}`)
        .delete()
        .catch(() => {});
    node.clock.advanceSecs(-86_400);
    using served = await node.serve();
    served.merge(...accountRecords(1));
    expect(served.range()?.oldestId).toBeGreaterThan(former);
    expect(logIdOf(served.db)).not.toBe(logId);
  });

  test("begin above all earlier ones when the state was lost, also with a clock that went back a day", async () => {
    using node = startNode();
    let former = 0;
    {
      using served = await node.serve();
      served.merge(...accountRecords(1));
      former = blockOfEvent(served.range()?.headId ?? 0);
    }
    node.replaceState();
    node.clock.advanceSecs(-86_400);
    using served = await node.serve();
    served.merge(cast("gm"));
    expect(blockOfEvent(served.range()?.oldestId ?? 0)).toBe(former + 1);
  });

  test("continue in the same log after a crash while more were being reserved", async () => {
    using node = startNode();
    let logId: string | undefined;
    {
      using served = await node.serve(true, 4);
      logId = logIdOf(served.db);
      served.logs.heights?.take();
      served.logs.heights?.take();
      served.logs.heights?.keep();
      node.setStateAway(true);
      await served.logs.heights?.reserveMore();
    }
    node.setStateAway(false);
    using served = await node.serve();
    expect(logIdOf(served.db)).toBe(logId);
  });

  test("begin above all earlier ones when an older copy of the index was restored", async () => {
    using node = startNode();
    {
      using served = await node.serve();
      served.merge(...accountRecords(1));
      served.db.checkpoint();
    }
    const copy = await Bun.file(node.path).bytes();
    let former = 0;
    {
      using served = await node.serve();
      for (let at = 0; at < 20; at++) served.merge(cast(`${at}`));
      former = served.range()?.headId ?? 0;
      served.db.checkpoint();
    }
    for (const suffix of ["-wal", "-shm"])
      await Bun.file(`${node.path}${suffix}`)
        .delete()
        .catch(() => {});
    await Bun.write(node.path, copy);
    using served = await node.serve();
    const hidden = served.range();
    expect(hidden && hidden.oldestId > hidden.headId).toBe(true);
    served.merge(cast("after"));
    expect(served.range()?.oldestId).toBeGreaterThan(former);
  });

  test("merges wait while none is reserved and the state is away", async () => {
    using node = startNode();
    node.setStateAway(true);
    using served = await node.serve();
    expect(served.merge(...accountRecords(1)).every((code) => code === "unavailable")).toBe(true);
  });

  test("are opened again each second while the state is away, until it is back or the node stops", async () => {
    using node = startNode();
    const timers = new ManualTimers();
    node.setStateAway(true);
    using served = await node.serve(true, undefined, timers.after);
    expect([timers.pendingMs, served.logs.heights]).toEqual([1000, undefined]);
    const next = timers.next();
    timers.fire(node.clock);
    await next;
    expect(timers.pendingMs).toBe(1000);
    served.logs.stop();
    expect(timers.pendingMs).toBeUndefined();
    using stopping = await node.serve(true, undefined, timers.after);
    timers.fire(node.clock);
    stopping.logs.stop();
    await new Promise(setImmediate);
    expect(timers.pendingMs).toBeUndefined();
    using other = await node.serve(true, undefined, timers.after);
    node.setStateAway(false);
    timers.fire(node.clock);
    while (!other.logs.heights) await new Promise(setImmediate);
    expect([other.merge(...accountRecords(1))[0], timers.pendingMs]).toEqual(["ok", undefined]);
  });

  test("a commit may take 64 of them, so that one with fewer left waits", async () => {
    for (const [heights, code] of [
      [64, "ok"],
      [63, "unavailable"],
    ] as const) {
      using node = startNode();
      using served = await node.serve(true, heights);
      expect(served.merge(...accountRecords(1))[0]).toBe(code);
    }
  });

  test("are taken one for each 16,383 events of a commit", async () => {
    using node = startNode();
    using served = await node.serve();
    const log = createOwnHubLog({ db: served.db, logs: served.logs });
    const event = { type: MERGE, fid: 1, body: new Uint8Array() };
    for (const events of [16_384, 16_383])
      served.db.transaction(() => log.append(Array(events).fill(event), DEFAULT_NOW_SECS));
    const ids = eventsOf(served.db).map(({ id }) => id);
    const first = firstHeightAt(node.clock);
    const eventsPerBlock = Object.values(Object.groupBy(ids, (id) => blockOfEvent(id) - first));
    // Each block begins with its confirmation.
    expect(eventsPerBlock.map((of = []) => of.length)).toEqual([16_384, 2, 16_384]);
  });

  test("are reserved before they run out; without any left, merges wait until the state is back", async () => {
    using node = startNode();
    using served = await node.serve(true, 256);
    served.merge(...accountRecords(1));
    for (let at = 0; at < 600; at++) {
      served.engine.heartbeat();
      if (at % 50 === 0) await served.logs.heights?.reserveMore();
    }
    expect(served.merge(cast("gm"))).toEqual(["ok"]);
    node.setStateAway(true);
    for (let at = 0; at < 300; at++) served.engine.heartbeat();
    expect(served.merge(cast("none left"))).toEqual(["unavailable"]);
    node.setStateAway(false);
    while (served.merge(cast("none left"))[0] === "unavailable") await served.logs.heights?.reserveMore();
    const heights = eventsOf(served.db).map(({ id }) => blockOfEvent(id));
    const [first = 0] = heights;
    expect([...new Set(heights)]).toEqual(
      Array.from({ length: new Set(heights).size }, (_, at) => first + at),
    );
  });

  test("a node that does not log ends the log, so that it has no hole afterwards", async () => {
    using node = startNode();
    {
      using served = await node.serve();
      served.merge(...accountRecords(1));
    }
    {
      using served = await node.serve(false);
      served.merge(cast("not logged"));
    }
    using served = await node.serve();
    served.merge(cast("logged"));
    const logged = eventsOf(served.db).filter(({ id }) => id >= (served.range()?.oldestId ?? 0));
    expect(logged.map(({ type }) => type)).toEqual([HubEventType.HUB_EVENT_TYPE_BLOCK_CONFIRMED, MERGE]);
  });
});
