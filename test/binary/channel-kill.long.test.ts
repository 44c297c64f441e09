import { afterAll, expect, test } from "bun:test";
import { findSlot } from "../../src/db/index/channels/slots.ts";
import { type IndexDatabase, indexPath, openIndexReader } from "../../src/db/index/database.ts";
import { openState, statePath } from "../../src/db/state/database.ts";
import { channelIdOfKey } from "../../src/protocol/channels/registrations.ts";
import { ChannelSlotKind } from "../../src/protocol/channels/slots.ts";
import {
  Action,
  activateChannels,
  acts,
  ownsWallet,
  pins,
  registers,
  walletOf,
} from "../support/channel-records.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { allDelivered, deliveryArgs } from "../support/delivery-network.ts";
import { startDeliveryReceiver } from "../support/delivery-receiver.ts";
import { startLoggedNode } from "../support/logged-node.ts";
import { IS_LONG } from "../support/long.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { startNode, tempDir } from "../support/program.ts";
import { localStores } from "../support/state-stores.ts";

const PINS = IS_LONG ? 1_000 : 200;
const KILLS = IS_LONG ? 8 : 2;
const BATCH = 10;
const HISTORY_SECS = 3600;
const KEY = "books";
const [OWNER, MODERATOR] = [1, 2] as const;

const dir = tempDir();
afterAll(() => dir[Symbol.dispose]());

const hashOfPin = (n: number) => {
  const hash = Buffer.alloc(20);
  hash.writeUInt32BE(n, 16);
  return hash;
};

function pinIn(db: IndexDatabase) {
  const slot = findSlot(db, {
    channelId: channelIdOfKey(KEY),
    kind: ChannelSlotKind.Pin,
    target: new Uint8Array(),
  });
  return slot && { hash: slot.detail?.toHex(), authorFid: slot.authorFid, timestamp: slot.timestamp };
}

test(`checks 11, 23 and 31: over ${KILLS} kills, ${PINS} alternating pins with reversed times leave the last one, and each is delivered with one id`, async () => {
  await using upstream = await startLoggedNode({}, Math.floor(Date.now() / 1000) - HISTORY_SECS);
  activateChannels(upstream.db);
  // No event: history, when the follower reads it.
  const before = [
    ...[OWNER, MODERATOR].flatMap((fid) => accountRecords(fid)),
    ownsWallet(OWNER),
    registers(KEY, walletOf(OWNER)),
    acts(OWNER, KEY, Action.addModerator, MODERATOR),
  ];
  expect(new Set(upstream.merge(...before))).toEqual(new Set(["ok"]));
  upstream.clock.advanceSecs(HISTORY_SECS);
  await using receiver = await startDeliveryReceiver();
  const dataDir = `${dir.path}/follower`;
  const kinds = {
    "channel.pinned": { channel_ids: [KEY] },
    "channel.created": {},
    "channel.moderator.added": {},
  };
  const start = () =>
    startNode({
      command: compiledProgram,
      dataDir,
      args: [
        ...deliveryArgs,
        "--set",
        `upstream.url=http://${upstream.hub.address}`,
        "--set",
        "http.workers=1",
      ],
    });
  const untilApplied = async (url: string, n: number) => {
    for (;;) {
      const body = (await (await fetch(`${url}/v2/svc/channel/pin?id=${KEY}`)).json()) as {
        pin?: { cast_hash: string } | null;
      };
      if (body.pin?.cast_hash === `0x${hashOfPin(n).toHex()}`) return;
      await Bun.sleep(10);
    }
  };
  let pinned = 0;
  const pin = (count: number) => {
    for (const end = pinned + count; pinned < end; ) {
      const batch = Array.from({ length: BATCH }, () => {
        pinned += 1;
        return pins(pinned % 2 ? OWNER : MODERATOR, KEY, hashOfPin(pinned), DEFAULT_TIMESTAMP - pinned);
      });
      expect(upstream.merge(...batch)).toEqual(batch.map(() => "ok"));
    }
  };

  let node = await start();
  {
    using state = openState(statePath(dataDir));
    await localStores(state).webhooks.create(receiver.webhook("/hook", { subscription: kinds }), 10);
  }
  // The first pin is of a node that is live, so that it is an event.
  pin(BATCH);
  await untilApplied(node.url, pinned);
  const share = PINS / (KILLS + 1);
  for (let kill = 0; kill < KILLS; kill++) {
    const writing = (async () => {
      for (const end = pinned + Math.floor(share / BATCH) * BATCH; pinned < end; ) {
        pin(BATCH);
        await Bun.sleep(Math.random() * 20);
      }
    })();
    await Bun.sleep(Math.random() * 300);
    await node.kill();
    await writing;
    node = await start();
  }
  pin(PINS - pinned);
  await untilApplied(node.url, PINS);
  await allDelivered(node.url);
  expect(await node.stop()).toBe(0);

  using index = openIndexReader(indexPath(dataDir));
  expect(pinIn(index)).toEqual(pinIn(upstream.db));
  expect(pinIn(index)?.hash).toBe(hashOfPin(PINS).toHex());
  expect(receiver.violations).toEqual([]);
  const ids = new Map<string, Set<string>>();
  for (const { body, messageId } of receiver.accepted) {
    const pin = `${body.type} ${body.data.cast_hash}`;
    ids.set(pin, (ids.get(pin) ?? new Set()).add(messageId));
  }
  const wanted = Array.from({ length: PINS }, (_, n) => `channel.pinned 0x${hashOfPin(n + 1).toHex()}`);
  expect([...ids.keys()].sort()).toEqual(wanted.sort());
  expect([...ids.values()].filter(({ size }) => size !== 1)).toEqual([]);
  expect(new Set([...ids.values()].flatMap((all) => [...all])).size).toBe(PINS);
}, 240_000);
