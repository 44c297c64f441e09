import { expect, test } from "bun:test";
import fc from "fast-check";
import { type IndexDatabase, openIndexInMemory } from "../../src/db/index/database.ts";
import { HydrationCache } from "../../src/read/hydrate/cache.ts";
import { openRelations } from "../../src/read/hydrate/relations.ts";
import { insertLink } from "../support/read-model.ts";

const VIEWER = 1;
const PEOPLE = [2, 3, 4, 5, 6];

interface Planned {
  readonly fid: number;
  readonly type: "block" | "mute" | "follow";
  readonly targetFid: number;
}

const person = fc.constantFrom(VIEWER, ...PEOPLE);
const planned = fc.uniqueArray(
  fc.record({ fid: person, type: fc.constantFrom("block", "mute", "follow"), targetFid: person }),
  { selector: ({ fid, type, targetFid }) => `${fid} ${type} ${targetFid}`, maxLength: 30 },
);
const owners = fc.option(
  fc.record({
    banned: fc.subarray(PEOPLE).map((fids) => new Set(fids)),
    muted: fc.subarray(PEOPLE).map((fids) => new Map([[VIEWER, new Set(fids)]])),
  }),
  { nil: undefined },
);

/** What hides an account, by the sentences of the docs. */
function expected(
  links: readonly Planned[],
  owner: { banned: Set<number>; muted: Map<number, Set<number>> } | undefined,
  fid: number,
) {
  const has = (from: number, type: string, to: number) =>
    links.some((link) => link.fid === from && link.type === type && link.targetFid === to);
  if (owner?.banned.has(fid)) return "banned";
  if (has(VIEWER, "block", fid)) return "blocking";
  if (has(fid, "block", VIEWER)) return "blockedBy";
  return has(VIEWER, "mute", fid) || owner?.muted.get(VIEWER)?.has(fid) ? "muting" : undefined;
}

function put(db: IndexDatabase, links: readonly Planned[]): void {
  db.transaction(() => {
    for (const link of links) insertLink(db, link);
  });
}

/** More than are listed, in one direction. */
const MANY = 1100;
const FIRST_OF_MANY = 1000;

for (const [name, more] of [
  ["few links", undefined],
  ["more blocks than are listed", (fid: number) => ({ fid: VIEWER, type: "block" as const, targetFid: fid })],
  ["more blockers than are listed", (fid: number) => ({ fid, type: "block" as const, targetFid: VIEWER })],
] as const)
  test(`a viewer with ${name} is shown what no ban, block or mute hides`, () => {
    fc.assert(
      fc.property(planned, owners, (links, owner) => {
        using db = openIndexInMemory();
        put(db, links);
        if (more)
          put(
            db,
            Array.from({ length: MANY }, (_, at) => more(FIRST_OF_MANY + at)),
          );
        const relations = openRelations({ db, cache: new HydrationCache() }, VIEWER, owner);
        for (const fid of PEOPLE) expect(relations?.reasonFor(fid)).toBe(expected(links, owner, fid));
        expect(relations?.reasonFor(VIEWER)).toBeUndefined();
        if (more) expect(relations?.reasonFor(FIRST_OF_MANY)).toBeDefined();
      }),
      { numRuns: more ? 10 : 100 },
    );
  });
