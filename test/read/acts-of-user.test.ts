import { expect, test } from "bun:test";
import fc from "fast-check";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { claimNetwork } from "../../src/db/index/identity.ts";
import { messageHash } from "../../src/protocol/message/message-hash.ts";
import { toFarcasterSecs } from "../../src/protocol/time.ts";
import { FarcasterNetwork, MessageData, MessageType } from "../../src/protocol/wire/generated/message.ts";
import { newestCastInteractions, newestReactions } from "../../src/read/queries/batch.ts";
import { deleteCast, hashFrom, insertCast, type ModelCast, setReaction } from "../support/read-model.ts";

const ACTOR = 1;
const START = 1_700_000_000;
const SECS = 6;

/** The casts that are acted on. The first two are the actor's own. */
const TARGETS = Array.from(
  { length: 8 },
  (_, n): ModelCast => ({
    fid: n < 2 ? ACTOR : 2 + (n % 3),
    at: START - 100 + n,
    hash: hashFrom(`target ${n}`),
  }),
);

type Act = { kind: "like" | "recast" | "reply"; target: number; at: number };

const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom("like", "recast", "reply"),
  target: fc.nat(TARGETS.length - 1),
  at: fc.integer({ min: START, max: START + SECS }),
});

/** `never`: the cast never arrives; `dropped`: it is removed after the acts; `late`: it arrives after them. */
const fate = fc.constantFrom("live", "live", "never", "dropped", "late");

const history = fc.record({
  acts: fc.array(act, { maxLength: 40 }),
  fates: fc.array(fate, { minLength: TARGETS.length, maxLength: TARGETS.length }),
  limit: fc.integer({ min: 1, max: 6 }),
});

const TYPES = { like: 1, recast: 2 } as const;

function reactionHash(type: 1 | 2, target: ModelCast, at: number): string {
  const data = MessageData.fromPartial({
    type: MessageType.MESSAGE_TYPE_REACTION_ADD,
    fid: ACTOR,
    timestamp: toFarcasterSecs(at),
    network: FarcasterNetwork.FARCASTER_NETWORK_MAINNET,
    body: {
      $case: "reactionBody",
      value: { type, target: { $case: "targetCastId", value: { fid: target.fid, hash: target.hash } } },
    },
  });
  return messageHash(MessageData.encode(data).finish()).toHex();
}

test("the newest acts of a user are those on live casts, whichever of act and cast was first", () => {
  fc.assert(
    fc.property(history, ({ acts, fates, limit }) => {
      using db = openIndexInMemory();
      claimNetwork(db, "mainnet");
      TARGETS.forEach((cast, n) => {
        if (fates[n] === "live" || fates[n] === "dropped") insertCast(db, cast);
      });
      const done = new Map<string, Act & { cast: ModelCast; hash: string }>();
      acts.forEach(({ kind, target, at }, n) => {
        const cast = TARGETS[target];
        if (!cast) return;
        if (kind === "reply") {
          const hash = hashFrom(`reply ${n}`);
          insertCast(db, { fid: ACTOR, at, hash, body: { parent: { $case: "parentCastId", value: cast } } });
          done.set(`reply ${n}`, { kind, target, at, cast, hash: hash.toHex() });
        } else if (!done.has(`${kind} ${target}`)) {
          const type = TYPES[kind];
          setReaction(db, { fid: ACTOR, type, target: cast, at, on: true });
          done.set(`${kind} ${target}`, { kind, target, at, cast, hash: reactionHash(type, cast, at) });
        }
      });
      TARGETS.forEach((cast, n) => {
        if (fates[n] === "dropped") deleteCast(db, cast);
        if (fates[n] === "late") insertCast(db, cast);
      });
      const isLive = ({ target }: Act) => fates[target] === "live" || fates[target] === "late";
      const live = [...done.values()]
        .filter(isLive)
        .sort((a, b) => b.at - a.at || (a.hash < b.hash ? 1 : -1));

      const reactions = live.filter(({ kind }) => kind !== "reply");
      expect(newestReactions(db, ACTOR)).toEqual(
        reactions.map(({ cast, at }) => ({ targetFid: cast.fid, timestamp: at })),
      );
      const onOthers = live.filter(({ cast }) => cast.fid !== ACTOR);
      const expected = [...new Set(onOthers.map(({ cast }) => cast))].map((cast) => {
        const kinds = onOthers.flatMap((one) => (one.cast === cast ? one.kind : []));
        return {
          hash: `0x${cast.hash.toHex()}` as const,
          liked: kinds.includes("like"),
          recasted: kinds.includes("recast"),
          replied: kinds.includes("reply"),
        };
      });
      expect(newestCastInteractions(db, ACTOR)).toEqual(expected);
      expect(newestCastInteractions(db, ACTOR, limit)).toEqual(expected.slice(0, limit));
    }),
  );
});
