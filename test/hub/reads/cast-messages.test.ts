import { expect, test } from "bun:test";
import fc from "fast-check";
import { indexPath } from "../../../src/db/index/database.ts";
import { startTestHub } from "../../support/hub.ts";
import { DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { accountRecords, startTestNode } from "../../support/node.ts";
import { cast, hashBytes, uncast } from "../../support/records.ts";

const FID = 1;
const SLOTS = 12;
/** Pages up to this size are read through the cache of casts, larger ones past it. */
const CACHED_PAGE = 100;
const LARGE_PAGE = 500;

const step = fc.record({
  slot: fc.nat(SLOTS - 1),
  do: fc.constantFrom("add" as const, "remove" as const, "everything" as const),
});

test("pages of cached casts equal those that are read past the cache, whatever commits between them add and remove", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
      using node = startTestNode();
      node.ingestAll(accountRecords(FID));
      await using hub = await startTestHub(indexPath(node.dir), { clock: node.clock });
      const live = new Map<number, ReturnType<typeof cast>>();
      const page = async (pageSize: number) =>
        (await hub.client.getCastsByFid({ fid: FID, pageSize }))
          ._unsafeUnwrap()
          .messages.map(({ hash }) => Buffer.from(hash).toString("hex"));
      for (const [at, { slot, do: what }] of steps.entries()) {
        const known = live.get(slot);
        if (what === "add" && known === undefined) {
          // Several of one second: their ids are side by side.
          const added = cast(FID, `slot ${slot}, step ${at}`, DEFAULT_TIMESTAMP + (slot >> 2));
          node.merge([added]);
          live.set(slot, added);
        } else if (what === "remove" && known !== undefined) {
          node.merge([uncast(FID, known, DEFAULT_TIMESTAMP + 1000 + at)]);
          live.delete(slot);
        } else if (what === "everything") {
          node.db.transaction(() => node.db.invalidations.everything());
        }
        const cached = await page(CACHED_PAGE);
        expect(cached).toEqual(await page(LARGE_PAGE));
        expect(cached.toSorted()).toEqual(
          [...live.values()].map((one) => hashBytes(one).toString("hex")).toSorted(),
        );
      }
    }),
    { numRuns: 6 },
  );
});
