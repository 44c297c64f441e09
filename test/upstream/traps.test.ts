import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { decodeRecord } from "../../src/ingest/record.ts";
import {
  MessageType,
  StorageUnitType,
  UserDataType,
  UserNameType,
} from "../../src/protocol/wire/generated/message.ts";
import { loadUsers } from "../../src/read/hydrate/users.ts";
import { keyAddedEvent } from "../support/envelopes.ts";
import { fnameProof, signedFnameProof, transferEvent } from "../support/events.ts";
import { gaslessKeyMessage, gaslessKeyRemoval } from "../support/gasless-keys.ts";
import { DEFAULT_NOW_SECS, DEFAULT_TIMESTAMP, makeSigner, makeWallet } from "../support/messages.ts";
import { eventRecord, proofRecord } from "../support/node.ts";
import { expectOk } from "../support/result.ts";
import { dumpFollowed } from "../support/upstream/followed.ts";
import { heldHashes } from "../support/upstream/lifetimes.ts";
import { hashOfAction, Scene, said } from "../support/upstream/scene.ts";
import type { Action } from "../support/upstream/script.ts";

/** Behaviours of the upstream that lose data if a follower does not handle them, one by one. */

// Longer than a scene waits for a follower without progress, so that the scene reports the reason.
setDefaultTimeout(60_000);

const cast = (fid: number, text: string): Action =>
  said(fid, { type: MessageType.MESSAGE_TYPE_CAST_ADD, body: { $case: "castAddBody", value: { text } } });

const follow = (fid: number, target: number, ago: number): Action =>
  said(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_LINK_ADD,
      body: { $case: "linkBody", value: { type: "follow", target: { $case: "targetFid", value: target } } },
    },
    { ago },
  );

const compact = (fid: number, targetFids: number[], ago: number): Action =>
  said(
    fid,
    {
      type: MessageType.MESSAGE_TYPE_LINK_COMPACT_STATE,
      body: { $case: "linkCompactStateBody", value: { type: "follow", targetFids } },
    },
    { ago },
  );

const name = (value: string, fid: number, fromFid: number, at: number): Action => ({
  fid,
  fromFid,
  record: proofRecord(
    signedFnameProof(value, fid, fid === 0 ? new Uint8Array(20) : makeWallet(`custody ${fid}`).address, at),
  ),
});

const holds = (scene: Scene, action: Action) => heldHashes(scene.index.db).has(hashOfAction(action).toHex());

function namesOf(scene: Scene, fid: number): string[] {
  return scene.index.db.sqlite
    .query<{ name: string }, [number]>("SELECT name FROM username_proofs WHERE fid = ? ORDER BY name")
    .all(fid)
    .map((row) => row.name);
}

async function expectEverything(scene: Scene): Promise<void> {
  await scene.index.caughtUp();
  expect(scene.chain.dumpOf(scene.index.db)).toBe(scene.chain.referenceDump);
}

test("follows a node that started less than a minute ago from its first block", async () => {
  await using scene = new Scene({ age: 1 });
  scene.join(1, 2);
  await scene.follow();
  await expectEverything(scene);
});

test("subscribes with event types, so that new events arrive by the stream without reading the log", async () => {
  await using scene = new Scene();
  scene.join(1, 2);
  await scene.follow();
  await scene.settle();
  const before = scene.callsOf("GetEvents");
  const news = [cast(1, "in shard 1"), cast(2, "in shard 2")];
  scene.happens(...news);
  await expectEverything(scene);
  expect(news.map((action) => holds(scene, action))).toEqual([true, true]);
  expect(scene.callsOf("GetEvents")).toBe(before);
});

test("catching up ends although the page tokens of the log never do", async () => {
  await using scene = new Scene();
  scene.node.mostPerPage = 2;
  scene.join(1, 2);
  await scene.follow();
  await scene.index.stop();
  const actions = Array.from({ length: 12 }, (_, n) => cast(1 + (n % 2), `missed ${n}`));
  for (const action of actions) scene.happens(action);
  const before = scene.callsOf("GetEvents");
  scene.index.start();
  await expectEverything(scene);
  // Two shards with about two dozen events each, two per page, and a few polls without events.
  expect(scene.callsOf("GetEvents") - before).toBeLessThan(60);
});

describe("gasless keys, whose events have no id and are never logged", () => {
  const signer = makeSigner("gasless");
  const added: Action = {
    fid: 2,
    record: {
      kind: "message",
      bytes: gaslessKeyMessage({ fid: 2, signer, requestFid: 1, ttlSecs: 3600, nonce: 1 }),
    },
  };
  const removed: Action = {
    fid: 2,
    record: {
      kind: "message",
      bytes: gaslessKeyRemoval({
        fid: 2,
        signer,
        nonce: 2,
        by: makeWallet("custody 2"),
        at: DEFAULT_TIMESTAMP + 5,
      }),
    },
  };
  const keys = (scene: Scene) => scene.index.db.sqlite.query("SELECT key FROM gasless_keys").all().length;

  test("a live block with a key event is complete without reading the log", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    await scene.follow();
    await scene.settle();
    const before = scene.callsOf("GetEvents");
    scene.happens(added);
    scene.passes(2);
    await expectEverything(scene);
    expect(keys(scene)).toBe(1);
    expect(scene.callsOf("GetEvents")).toBe(before);
    scene.happens(removed);
    scene.passes(2);
    await expectEverything(scene);
    expect(keys(scene)).toBe(0);
  });

  test("a logged block that lacks only key events is not a gap", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    await scene.follow();
    await scene.index.stop();
    scene.happens(added);
    scene.passes(2);
    const reads = scene.callsOf("GetAllCastMessagesByFid");
    scene.index.start();
    await expectEverything(scene);
    expect(keys(scene)).toBe(1);
    expect(scene.callsOf("GetAllCastMessagesByFid")).toBe(reads);
  });

  test("stores a key that was added before the follower started", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    scene.happens(added);
    scene.passes(70);
    await scene.follow();
    await expectEverything(scene);
    expect(keys(scene)).toBe(1);
  });
});

test("a compact state arrives without a list of deleted links, and the follower deletes them by the rule", async () => {
  await using scene = new Scene();
  scene.join(1, 2, 3);
  const [kept, dropped] = [follow(2, 1, 60), follow(2, 3, 60)];
  scene.happens(kept, dropped);
  await scene.follow();
  expect([kept, dropped].map((action) => holds(scene, action))).toEqual([true, true]);
  const atTheSameSecond = follow(2, 3, 30);
  scene.happens(compact(2, [1], 30));
  await scene.index.caughtUp();
  expect([kept, dropped].map((action) => holds(scene, action))).toEqual([true, false]);
  // Accepted because it arrived later. By itself the rule would remove it from the state that was read.
  scene.happens(atTheSameSecond);
  await expectEverything(scene);
  expect(holds(scene, atTheSameSecond)).toBe(true);
});

describe("a compact state with links in its block", () => {
  const older = follow(2, 3, 60);
  const [unlisted, listed] = [follow(2, 4, 50), follow(2, 1, 49)];
  const state = compact(2, [1], 30);
  const links = [older, unlisted, listed];
  const stored = (scene: Scene) => links.map((action) => holds(scene, action));

  async function compacted(when: "before the fill" | "while following"): Promise<Scene> {
    const scene = new Scene();
    scene.join(1, 2, 3, 4);
    scene.happens(older);
    if (when === "while following") await scene.follow();
    scene.happens(unlisted, listed, state);
    if (when === "before the fill") scene.passes(70);
    if (when === "before the fill") await scene.follow();
    return scene;
  }

  test("removes the links of earlier blocks only, as on the network", async () => {
    await using scene = await compacted("while following");
    await expectEverything(scene);
    expect(stored(scene)).toEqual([false, true, true]);
  });

  test("leaves the same links in an index that is filled later", async () => {
    await using scene = await compacted("before the fill");
    await expectEverything(scene);
    expect(stored(scene)).toEqual([false, true, true]);
  });

  test("is not applied again when its fid is read again or its record is imported", async () => {
    await using scene = await compacted("while following");
    await scene.index.caughtUp();
    await scene.index.stop();
    scene.happens(cast(2, "in a block that the log no longer has"));
    scene.passes(70);
    scene.node.eventsFrom = scene.chain.ticks.length - 1;
    scene.fidsRead.clear();
    scene.index.start();
    await expectEverything(scene);
    expect([...scene.fidsRead]).toContain(2);
    const imported = expectOk(decodeRecord(state.record));
    expect(scene.index.engine.applyResumable([imported], [], { isHistory: true })).toMatchObject([
      { code: "bad_request.duplicate" },
    ]);
    expect(stored(scene)).toEqual([false, true, true]);
  });
});

test("a name proof of a message is added and removed as a proof", async () => {
  await using scene = new Scene();
  scene.join(2, 4);
  await scene.follow();
  const claim = (fid: number, ago: number) =>
    said(
      fid,
      {
        type: MessageType.MESSAGE_TYPE_USERNAME_PROOF,
        body: {
          $case: "usernameProofBody",
          value: {
            name: Buffer.from("shared.eth"),
            owner: makeWallet(`custody ${fid}`).address,
            fid,
            type: UserNameType.USERNAME_TYPE_ENS_L1,
            timestamp: DEFAULT_NOW_SECS - ago,
            signature: Buffer.alloc(65, 1),
          },
        },
      },
      { ago },
    );
  scene.happens(claim(2, 50));
  await scene.index.caughtUp();
  expect(namesOf(scene, 2)).toContain("shared.eth");
  scene.happens(claim(4, 20));
  await expectEverything(scene);
  expect(namesOf(scene, 2)).not.toContain("shared.eth");
  expect(namesOf(scene, 4)).toContain("shared.eth");
});

test("every shard reports an fname; the losing fid's shard revokes its USERNAME, and fid 0 releases the name", async () => {
  await using scene = new Scene();
  scene.join(1, 2);
  const username = said(1, {
    type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
    body: { $case: "userDataBody", value: { type: UserDataType.USER_DATA_TYPE_USERNAME, value: "name1" } },
  });
  scene.happens(username);
  await scene.follow();
  expect(holds(scene, username)).toBe(true);
  scene.happens(name("name1", 2, 1, DEFAULT_NOW_SECS + 100));
  await expectEverything(scene);
  expect([namesOf(scene, 1), namesOf(scene, 2), holds(scene, username)]).toEqual([
    [],
    ["name1", "name2"],
    false,
  ]);
  scene.happens(name("name1", 0, 2, DEFAULT_NOW_SECS + 200));
  await expectEverything(scene);
  expect(namesOf(scene, 2)).toEqual(["name2"]);
});

test("requests a list of fids again if it is empty by mistake, short or repeating", async () => {
  await using scene = new Scene();
  scene.node.mostPerPage = 2;
  scene.join(1, 2, 3, 4, 5);
  scene.passes(70);
  let mistakes = 3;
  scene.faults.call = (method) => (method === "GetFids" && mistakes-- > 0 ? "empty" : undefined);
  await scene.follow();
  await expectEverything(scene);
  expect(mistakes).toBeLessThanOrEqual(0);
});

test("reads live events that the stream skipped from the log", async () => {
  await using scene = new Scene();
  scene.join(1, 2);
  await scene.follow();
  let delivered = 0;
  // The first four events of the next blocks: BLOCK_CONFIRMED and the cast of each shard.
  scene.faults.delivery = () => (delivered++ < 4 ? "skip" : undefined);
  const missed = [cast(1, "skipped"), cast(2, "skipped too")];
  scene.happens(...missed);
  scene.happens(cast(1, "received"), cast(2, "received too"));
  await expectEverything(scene);
  expect(missed.map((action) => holds(scene, action))).toEqual([true, true]);
});

describe("what the upstream is", () => {
  test("does not follow from a stream that ended without a status after blocks", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    await scene.follow();
    await scene.settle();
    let ends = 4;
    scene.faults.delivery = () => (ends-- > 0 ? "reset" : undefined);
    for (let n = 0; n < 6; n++) {
      scene.happens(cast(1, `one ${n}`), cast(2, `two ${n}`));
      await scene.index.caughtUp();
    }
    await expectEverything(scene);
    expect(ends).toBeLessThan(1);
    expect(scene.index.faults).toContainEqual(expect.stringContaining("Call ended without gRPC status"));
    expect(scene.index.peerErrors).toEqual([]);
    expect(scene.index.progress.peerError).toBeUndefined();
  });

  test("is taken back with the next block, if it was wrong", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    await scene.follow();
    await scene.index.stop();
    scene.faults.call = (method) => (method === "Subscribe" ? "unserved" : undefined);
    scene.index.start();
    await scene.index.until(() => scene.index.peerErrors.length > 0);
    expect(scene.index.peerErrors[0]).toBe("it does not serve Subscribe");
    delete scene.faults.call;
    await scene.settle();
    expect(scene.index.progress.peerError).toBeUndefined();
  });

  test("is taken back once it passes the check, though no block follows", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    await scene.follow();
    await scene.settle();
    await scene.index.stop();
    scene.faults.call = (method) => (method === "GetInfo" ? "unserved" : undefined);
    scene.index.start();
    await scene.index.until(() => scene.index.progress.peerError !== undefined);
    delete scene.faults.call;
    await scene.index.until(() => scene.index.progress.peerError === undefined);
  });
});

test("stray old events of height 0 change nothing", async () => {
  await using scene = new Scene();
  scene.join(1, 2);
  const gone = cast(2, "removed before the follower came");
  scene.happens(gone);
  const targetHash = hashOfAction(gone);
  scene.happens(
    said(2, {
      type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
      body: { $case: "castRemoveBody", value: { targetHash } },
    }),
  );
  await scene.follow();
  await expectEverything(scene);
  expect(holds(scene, gone)).toBe(false);
});

test("skips an on-chain event that breaks our rules, reports it once, and stores the rest of its fid", async () => {
  await using scene = new Scene();
  scene.join(1, 2);
  const key = (keyType: number, bytes: Uint8Array, block: number): Action => ({
    fid: 2,
    record: eventRecord(keyAddedEvent(2, bytes, { block }, { keyType, requestFid: 1 })),
  });
  const { address } = makeWallet("auth");
  const [before, after] = [cast(2, "before"), cast(2, "after")];
  scene.happens(key(3, Buffer.alloc(32, 1), 900_000), before);
  scene.happens(key(2, Buffer.concat([Buffer.alloc(12), address]), 900_001));
  scene.passes(70);
  await scene.follow();
  await expectEverything(scene);
  // Four types of events of two fids, and the registrations of channels, each requested once.
  expect(scene.callsOf("GetOnChainEvents")).toBe(9);
  scene.happens(key(3, Buffer.alloc(32, 2), 900_002), after);
  scene.happens(key(2, Buffer.alloc(32, 3), 900_003));
  await expectEverything(scene);
  expect([holds(scene, before), holds(scene, after)]).toEqual([true, true]);
  expect(loadUsers(scene.index.db, [2]).get(2)?.authAddresses).toEqual([{ address, appFid: 1 }]);
  expect([scene.callsOf("GetOnChainEvents"), scene.index.faults]).toEqual([9, []]);
});

describe("a checkpoint that is too old", () => {
  const lend = (toFid: number) =>
    said(1, {
      type: MessageType.MESSAGE_TYPE_LEND_STORAGE,
      body: {
        $case: "lendStorageBody",
        value: { toFid, numUnits: 1, unitType: StorageUnitType.UNIT_TYPE_2025 },
      },
    });

  /** A follower that was stopped while blocks were made whose events are no longer logged. */
  async function wasAway(): Promise<Scene> {
    const scene = new Scene();
    scene.join(1, 2, 3, 4, 5, 6);
    const gone = cast(3, "removed meanwhile");
    scene.happens(gone, follow(2, 4, 40));
    await scene.follow();
    await scene.index.stop();
    scene.happens(
      said(3, {
        type: MessageType.MESSAGE_TYPE_CAST_REMOVE,
        body: { $case: "castRemoveBody", value: { targetHash: hashOfAction(gone) } },
      }),
      compact(2, [1], 20),
      lend(4),
    );
    scene.happens(name("name2", 4, 2, DEFAULT_NOW_SECS + 100));
    scene.passes(70);
    scene.node.eventsFrom = scene.chain.ticks.length - 1;
    scene.fidsRead.clear();
    return scene;
  }

  test("is detected, and only the fids that the blocks concern are read again", async () => {
    await using scene = await wasAway();
    scene.index.start();
    await expectEverything(scene);
    // 3 cast, a name moved from 2 to 4; 1 lent to 4, which shard 0 reports anyway.
    for (const fid of [2, 3, 4]) expect([...scene.fidsRead]).toContain(fid);
    for (const fid of [5, 6]) expect([...scene.fidsRead]).not.toContain(fid);
  });

  test("is detected without blocks too, and every fid is read again", async () => {
    await using scene = await wasAway();
    scene.node.blocksFrom = scene.node.eventsFrom;
    scene.index.start();
    await expectEverything(scene);
    expect(scene.fidsRead.size).toBe(6);
  });
});

describe("contents that the upstream forges", () => {
  const NOT_SIGNED = "signature is not the name server's";
  const unsigned = (value: string, fid: number, at: number): Action => ({
    fid,
    fromFid: 1,
    record: proofRecord(fnameProof(value, fid, makeWallet(`custody ${fid}`).address, at)),
  });

  test("an fname that the name server has not signed is refused in a list, by name and in a block", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    scene.happens(unsigned("listed", 2, DEFAULT_NOW_SECS + 100));
    scene.happens(unsigned("name1", 2, DEFAULT_NOW_SECS + 110), name("name2", 2, 2, DEFAULT_NOW_SECS + 120));
    scene.happens(
      said(2, {
        type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
        body: {
          $case: "userDataBody",
          value: { type: UserDataType.USER_DATA_TYPE_USERNAME, value: "listed" },
        },
      }),
    );
    scene.passes(70);
    await scene.follow();
    expect(namesOf(scene, 2)).toEqual(["name2"]);
    expect(scene.index.refusals).toContain(NOT_SIGNED);
    scene.index.refusals.length = 0;
    scene.happens(unsigned("inblock", 2, DEFAULT_NOW_SECS + 200));
    await scene.settle();
    expect(namesOf(scene, 2)).toEqual(["name2"]);
    expect(new Set(scene.index.refusals)).toEqual(new Set([NOT_SIGNED]));
  });

  test("an on-chain event of the future is refused in a list and in a block", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    // The follower's clock is a day ahead of the network's.
    const at = DEFAULT_NOW_SECS + 86_400 + 601;
    const stolen = (block: number): Action => ({
      fid: 2,
      record: eventRecord(
        transferEvent(2, makeWallet("custody 2").address, makeWallet("thief").address, { block, at }),
      ),
    });
    scene.happens(stolen(900_000));
    scene.passes(70);
    await scene.follow();
    scene.happens(stolen(900_001));
    await scene.settle();
    const custody = scene.index.db.sqlite.query<{ custody: Uint8Array }, []>(
      "SELECT custody FROM fids WHERE fid = 2",
    );
    expect(Buffer.from(custody.get()?.custody ?? [])).toEqual(Buffer.from(makeWallet("custody 2").address));
    expect(new Set(scene.index.refusals)).toEqual(
      new Set(["block_timestamp is more than 600 seconds in the future"]),
    );
  });
});

describe("fnames that the node leaves out of the list of their fid", () => {
  const username = (fid: number, value: string) =>
    said(fid, {
      type: MessageType.MESSAGE_TYPE_USER_DATA_ADD,
      body: { $case: "userDataBody", value: { type: UserDataType.USER_DATA_TYPE_USERNAME, value } },
    });
  const at = (secs: number) => DEFAULT_NOW_SECS + secs;

  /** 1 shows its first of two names, 2 has lost another one, 3 has moved its own away and back, 5 shows one of several. */
  function play(scene: Scene): void {
    scene.happens(username(1, "name1"), username(2, "name2"), username(4, "name4"));
    scene.happens(name("second1", 1, 0, at(100)), name("second2", 2, 0, at(100)));
    scene.happens(name("second2", 5, 2, at(110)), name("name3", 5, 3, at(110)));
    scene.happens(username(2, "name2"), name("name3", 3, 5, at(120)));
    scene.happens(username(3, "name3"), name("name5", 4, 5, at(130)));
    scene.happens(username(5, "second2"));
    scene.passes(80);
  }

  test("a filled index equals, row by row, one that followed from the first block", async () => {
    await using scene = new Scene({ age: 1 });
    await scene.follow();
    scene.join(1, 2, 3, 4, 5);
    play(scene);
    await expectEverything(scene);
    await scene.index.stop();
    const { db } = scene.index;
    await scene.follow();
    expect(scene.index.db).not.toBe(db);
    expect(dumpFollowed(scene.index.db)).toBe(dumpFollowed(db));
    expect([2, 3, 5].map((fid) => namesOf(scene, fid))).toEqual([["name2"], ["name3"], ["second2"]]);
    expect(scene.chain.reference.hiddenNames()).toEqual([]);
    db[Symbol.dispose]();
  });

  test("are asked for when their user shows them after a fill that could not find them", async () => {
    await using scene = new Scene();
    scene.join(1, 2);
    scene.happens(name("hidden", 1, 0, at(100)), name("listed", 1, 0, at(110)));
    scene.passes(80);
    await scene.follow();
    expect(namesOf(scene, 1)).toEqual(["listed"]);
    scene.happens(username(1, "hidden"));
    await expectEverything(scene);
    expect(namesOf(scene, 1)).toEqual(["hidden", "listed"]);
  });

  test("stay when their fid is read again", async () => {
    await using scene = new Scene();
    scene.join(1, 2, 3, 4, 5);
    play(scene);
    await scene.follow();
    // Neither shown, nor all listed.
    scene.happens(name("third1", 1, 0, at(200)), name("fourth1", 1, 0, at(210)));
    await scene.settle();
    const before = [1, 2, 3].map((fid) => namesOf(scene, fid));
    expect(before).toEqual([["fourth1", "name1", "second1", "third1"], ["name2"], ["name3"]]);
    await scene.index.stop();
    scene.happens(cast(1, "in a block"), cast(2, "that the log"), cast(3, "no longer has"));
    scene.passes(70);
    scene.node.eventsFrom = scene.chain.ticks.length - 1;
    scene.index.start();
    await scene.index.caughtUp();
    expect([1, 2, 3].map((fid) => namesOf(scene, fid))).toEqual(before);
  });
});
