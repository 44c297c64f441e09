import { expect, test } from "bun:test";
import fc from "fast-check";
import { countsOfChannel } from "../../src/db/index/channels/slots.ts";
import { MessageType, ReactionType } from "../../src/protocol/wire/generated/message.ts";
import { registeredChannel } from "../../src/read/channel-names.ts";
import { channelFollowers, followedChannels } from "../../src/read/queries/channels/follows.ts";
import { activateChannels, registers, uriOf, walletOf } from "../support/channel-records.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords, startTestNode, type TestNode } from "../support/node.ts";
import { signed } from "../support/records.ts";

const KEY = "books";
const FIDS = [1, 2, 3] as const;

function startNode(): TestNode {
  const node = startTestNode();
  activateChannels(node.db);
  node.ingestAll([...FIDS.flatMap((fid) => accountRecords(fid)), registers(KEY, walletOf(1))]);
  return node;
}

interface Reaction {
  readonly fid: number;
  readonly url?: string;
  readonly isRemoval?: boolean;
  readonly isRecast?: boolean;
  /** Seconds after the test time. */
  readonly at: number;
}

const reaction = ({ fid, url = uriOf(KEY), isRemoval = false, isRecast = false, at }: Reaction) =>
  signed(
    fid,
    {
      type: isRemoval ? MessageType.MESSAGE_TYPE_REACTION_REMOVE : MessageType.MESSAGE_TYPE_REACTION_ADD,
      body: {
        $case: "reactionBody",
        value: {
          type: isRecast ? ReactionType.REACTION_TYPE_RECAST : ReactionType.REACTION_TYPE_LIKE,
          target: { $case: "targetUrl", value: url },
        },
      },
    },
    DEFAULT_TIMESTAMP + at,
  );

/** The followers as they are listed, a page of two at a time, and as they are counted. */
function followersOf({ db }: TestNode): { readonly listed: number[]; readonly counted: number } {
  const channel = registeredChannel(db, KEY);
  if (!channel) throw new Error("the channel is not registered");
  const listed: number[] = [];
  let after: readonly [number, number] | undefined;
  do {
    const { rows, cursor } = channelFollowers(db, { channel, limit: 2, after });
    listed.push(...rows.map(({ fid }) => fid));
    const last = rows.at(-1);
    after = cursor !== null && last ? [last.timestamp, last.fid] : undefined;
  } while (after !== undefined);
  return { listed, counted: countsOfChannel(db, channel.channelId).followers };
}

test("check 19: a follow that the limit of reactions prunes is in no list or count after the same commit", () => {
  using node = startNode();
  expect(node.ingest(reaction({ fid: 1, at: 0 }))).toBe("ok");
  expect(followersOf(node)).toEqual({ listed: [1], counted: 1 });
  const later = Array.from({ length: 400 }, (_, at) =>
    reaction({ fid: 1, url: `https://example.com/${at}`, at: 1 }),
  );
  node.merge(later);
  expect(followersOf(node)).toEqual({ listed: [], counted: 0 });
  expect(followedChannels(node.db, { fid: 1, limit: 10, after: undefined }).rows).toEqual([]);
});

test("checks 18 and 20: after every step as many follow as are listed, and recasts of the URI change nothing", () => {
  const step = fc.record({
    fid: fc.constantFrom(...FIDS),
    isRemoval: fc.boolean(),
    isRecast: fc.boolean(),
    at: fc.integer({ min: 0, max: 6 }),
  });
  fc.assert(
    fc.property(fc.array(step, { minLength: 1, maxLength: 20 }), (steps) => {
      using node = startNode();
      /** The newest like of each user, or its end. */
      const last = new Map<number, { at: number; isRemoval: boolean }>();
      for (const one of steps) {
        node.ingest(reaction(one));
        const before = last.get(one.fid);
        // A removal wins against an addition of the same second.
        const wins = !before || one.at > before.at || (one.at === before.at && one.isRemoval);
        if (!one.isRecast && wins) last.set(one.fid, one);
        const following = FIDS.filter((fid) => last.get(fid)?.isRemoval === false);
        const { listed, counted } = followersOf(node);
        expect([listed.toSorted(), counted]).toEqual([following, following.length]);
      }
    }),
    { numRuns: 15 },
  );
});
