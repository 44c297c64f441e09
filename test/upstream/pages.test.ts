import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { listFids, type Page, readPages, ShortListError } from "../../src/upstream/calls/pages.ts";

const page = <Item>(items: Item[], token?: string): Page<Item> => ({
  items,
  nextToken: token === undefined ? undefined : Buffer.from(token),
});

/** Serves each attempt, which starts without a token, the next of the lists in pages. */
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
  await listFids(listing(lists, pageSize), expected, async (news) => {
    fids.push(...news);
  });
  return fids.sort((a, b) => a - b);
}

describe("readPages", () => {
  const walked = async (pages: readonly Page<number>[]) => {
    const items: number[] = [];
    let next = 0;
    for await (const one of readPages(async () => pages[next++] ?? page([99]))) items.push(...one);
    return items;
  };

  test("yields all pages, short and empty ones included", async () => {
    expect(await walked([page([1, 2], "a"), page([], "b"), page([3], "c"), page([4])])).toEqual([1, 2, 3, 4]);
  });

  test("ends the list at a token that leads back to its own page", async () => {
    expect(await walked([page([1], "a"), page([2], "a"), page([3])])).toEqual([1, 2]);
  });

  test("ends with an error at a list that always has another page", async () => {
    let pages = 0;
    const walk = async () => {
      for await (const _ of readPages(async () => page([], `${++pages}`)));
    };
    await expect(walk()).rejects.toThrow("has not ended after 20,000 pages");
    expect(pages).toBe(20_000);
  });
});

describe("listFids", () => {
  test("ends with an error at a list of many more fids than the node has registrations", async () => {
    let fid = 0;
    let listed = 0;
    const more = async () =>
      page(
        Array.from({ length: 1000 }, () => ++fid),
        `${fid}`,
      );
    const walk = listFids(more, 500, async (fids) => {
      listed += fids.length;
    });
    await expect(walk).rejects.toThrow("it lists more than 10,500 fids, and reports 500");
    expect(listed).toBe(10_000);
  });

  test("returns each fid once, even if it is listed twice in one page or in two", async () => {
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

  test("reads a list that ends early again and combines the attempts", async () => {
    expect(await listed([[1, 2], [], [1, 2, 3], [4]], 4)).toEqual([1, 2, 3, 4]);
  });

  test("throws ShortListError if the list stays shorter than reported", async () => {
    expect(listed([[1, 2, 3]], 4)).rejects.toThrow(ShortListError);
    expect(listed([[]], 1)).rejects.toThrow("lists 0 fids but reports 1 registrations");
  });

  test("accepts a list that is short by the same repeated rows each time", async () => {
    expect(await listed([[1, 2, 2, 3]], 4)).toEqual([1, 2, 3]);
    // Rows that are repeated in one attempt only explain nothing.
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
