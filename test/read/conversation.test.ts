import { expect, test } from "bun:test";
import fc from "fast-check";
import { openIndexInMemory } from "../../src/db/index/database.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import { castByHash, hex } from "../../src/read/hydrate/casts.ts";
import { attachReplies, type ReplyTree } from "../../src/read/queries/casts/conversation.ts";
import { deleteCast, hashFrom, insertCast, type ModelCast } from "../support/read-model.ts";

const START = 1_700_000_000;
/** The number of casts of a network. Each replies to an earlier one, which may be deleted. */
const CASTS = 14;

const step = fc.record({
  cast: fc.integer({ min: 1, max: CASTS - 1 }),
  root: fc.integer({ min: 0, max: CASTS - 1 }),
  depth: fc.integer({ min: 1, max: 4 }),
  room: fc.integer({ min: 1, max: 8 }),
});

test("a cached conversation equals a fresh one after casts are added and removed, at any depth and limit", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat(), { minLength: CASTS, maxLength: CASTS }),
      fc.array(step, { minLength: 5, maxLength: 40 }),
      (parents, steps) => {
        using db = openIndexInMemory();
        const cache = new HydrationCache();
        const casts: ModelCast[] = [];
        for (const [n, parent] of parents.entries()) {
          const to = n === 0 ? undefined : casts[parent % n];
          const body = to ? { parent: { $case: "parentCastId", value: { fid: to.fid, hash: to.hash } } } : {};
          casts.push({
            fid: 1 + (n % 3),
            at: START + (n % 4),
            hash: hashFrom(`${n}`),
            body,
          } as ModelCast);
        }
        const live = new Set<ModelCast>();
        const toggle = (cast: ModelCast) => {
          db.transaction(() => (live.has(cast) ? deleteCast : insertCast)(db, cast));
          if (!live.delete(cast)) live.add(cast);
        };
        const conversationOf = (cache: HydrationCache, cast: ModelCast, depth: number, room: number) => {
          const found = castByHash(db, hex(Uint8Array.from(cast.hash)));
          if (!found) return undefined;
          const root: ReplyTree = { id: found.id, replies: [] };
          db.snapshot(() => {
            cache.sync(db);
            attachReplies({ db, cache }, [root], { depth, room });
          });
          return root;
        };
        for (const cast of casts.slice(1)) toggle(cast);
        for (const { cast, root: rootAt, depth, room } of steps) {
          const changed = casts[cast];
          const root = casts[rootAt];
          if (!changed || !root) throw new Error("no such cast");
          toggle(changed);
          expect(conversationOf(cache, root, depth, room)).toEqual(
            conversationOf(new HydrationCache(), root, depth, room),
          );
        }
      },
    ),
  );
});
