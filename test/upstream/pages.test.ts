import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Page } from "../../src/upstream/client.ts";
import { ShortListError, walkFids, walkPages } from "../../src/upstream/pages.ts";

const page = <Item>(items: Item[], token?: string): Page<Item> => ({
  items,
  nextToken: token === undefined ? undefined : Buffer.from(token),
});

/** Answers each walk, which begins without a token, with the next of the lists, cut into pages. */
function listing(lists: readonly (readonly number[])[], pageSize: number) {
  let walk = -1;
  return async (token: Uint8Array | undefined) => {
    if (token === undefined) walk++;
    const list = lists[Math.min(walk, lists.length - 1)] ?? [];
    const from = token ? Number(Buffer.from(token).toString()) : 0;
    const end = from + pageSize;
    return page(list.slice(from, end), end < list.length ? String(end) : undefined);
  };
}

async function listed(lists: readonly (readonly number[])[], expected: number, pageSize = 2) {
  const fids: number[] = [];
  await walkFids(listing(lists, pageSize), expected, async (news) => {
    fids.push(...news);
  });
  return fids.sort((a, b) => a - b);
}

describe("the pages of a list", () => {
  const walked = async (pages: readonly Page<number>[]) => {
    const items: number[] = [];
    let next = 0;
    for await (const one of walkPages(async () => pages[next++] ?? page([99]))) items.push(...one);
    return items;
  };

  test("all come, the short and the empty ones too", async () => {
    expect(await walked([page([1, 2], "a"), page([], "b"), page([3], "c"), page([4])])).toEqual([1, 2, 3, 4]);
  });

  test("a token that leads back to its own page ends the list", async () => {
    expect(await walked([page([1], "a"), page([2], "a"), page([3])])).toEqual([1, 2]);
  });
});

describe("the fids of a shard", () => {
  test("each comes once, though some are listed twice, in one page or in two", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 1, max: 30 })),
        fc.integer({ min: 1, max: 4 }),
        async (list, size) => {
          const fids = [...new Set(list)].sort((a, b) => a - b);
          expect(await listed([list], fids.length, size)).toEqual(fids);
        },
      ),
    );
  });

  test("a list that ends early is walked again, and what each walk brought is joined", async () => {
    expect(await listed([[1, 2], [], [1, 2, 3], [4]], 4)).toEqual([1, 2, 3, 4]);
  });

  test("one that stays short of what the node announced is a fault", async () => {
    expect(listed([[1, 2, 3]], 4)).rejects.toThrow(ShortListError);
    expect(listed([[]], 1)).rejects.toThrow("lists 0 fids and speaks of 1 registrations");
  });

  test("one that is short by rows that came twice, each time, is whole", async () => {
    expect(await listed([[1, 2, 2, 3]], 4)).toEqual([1, 2, 3]);
    // Rows that come twice once only explain nothing.
    expect(
      listed(
        [
          [1, 2, 2, 3],
          [1, 2, 3],
        ],
        4,
      ),
    ).rejects.toThrow(ShortListError);
  });
});
