import { expect, test } from "bun:test";
import fc from "fast-check";
import { actorOf, excluderOf, withoutExcluded } from "../../../src/webhooks/match/exclusions.ts";
import type { Exclusion } from "../../../src/webhooks/subscription.ts";
import { someFacts } from "../../support/subscriptions.ts";

const fid = fc.nat(6);
const someExclusion: fc.Arbitrary<Exclusion | undefined> = fc.option(
  fc.record({ bans: fc.boolean(), fids: fc.array(fid, { maxLength: 3 }) }, { requiredKeys: [] }),
  { nil: undefined },
);

test("leaves out exactly the subscribers that list who acts, or whose owner bans them", async () => {
  let left = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ owner: fc.option(fc.nat(3), { nil: undefined }), exclude: someExclusion }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.array(someFacts, { maxLength: 8 }),
      fc.array(fc.record({ ownerFid: fc.nat(3), fid }), { maxLength: 8 }),
      async (subscribers, events, bans) => {
        const asked: [readonly number[], readonly number[]][] = [];
        const matches = events.map(() => subscribers.map((_, at) => at));
        const excluders = subscribers.map(({ owner, exclude }) =>
          excluderOf({ "cast.created": {}, ...(exclude && { exclude }) }, owner),
        );
        const kept = await withoutExcluded(
          matches,
          events,
          (at) => excluders[at],
          async (owners, fids) => {
            asked.push([owners, fids]);
            // A store may return more than what was asked for together.
            return bans.filter((ban) => owners.includes(ban.ownerFid) && fids.includes(ban.fid));
          },
        );
        const expected = events.map((facts) => {
          const actor = actorOf(facts);
          return subscribers.flatMap(({ owner, exclude }, at) => {
            const isListed = exclude?.fids?.some((one) => one === actor) ?? false;
            const isBanned = bans.some((ban) => ban.ownerFid === owner && ban.fid === actor);
            return isListed || (exclude?.bans === true && isBanned) ? [] : [at];
          });
        });
        expect(kept).toEqual(expected);
        expect(asked.length).toBeLessThanOrEqual(1);
        left += matches.flat().length - kept.flat().length;
      },
    ),
  );
  expect(left).toBeGreaterThan(0);
});

test("asks for no bans where none count", async () => {
  const never = () => Promise.reject(new Error("asked"));
  const follow = { kind: "follow.created", fid: 1, targetFid: 2 } as const;
  const excluder = excluderOf({ "follow.created": {}, exclude: { fids: [2], bans: true } }, undefined);
  expect(await withoutExcluded([["a"]], [follow], () => excluder, never)).toEqual([["a"]]);
});
