import type { TestApi } from "./api.ts";

/**
 * Pages through a list to its end and returns its items.
 * @param path the path with a query, without `limit` and `cursor`
 * @param key the key of the items in each response, or in its `result`
 * @param between called after each page, to change the data between pages
 */
export async function readAllPages<Item>(
  api: TestApi,
  path: string,
  key: string,
  limit: number,
  between: (page: number) => void = () => undefined,
): Promise<Item[]> {
  const items: Item[] = [];
  let cursor: string | null = null;
  let page = 0;
  do {
    const more: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = await api.get(`${path}${path.includes("?") ? "&" : "?"}limit=${limit}${more}`);
    if (status !== 200) throw new Error(`${path} responded with ${status}`);
    const list = (body.result ?? body) as Record<string, unknown>;
    const part = list[key] as Item[];
    // A client may interpret a short page as the last one, so only the last page may be short.
    ({ cursor } = list.next as { cursor: string | null });
    if (cursor !== null && part.length !== limit) throw new Error("a page in the middle is short");
    items.push(...part);
    between(page);
    page += 1;
  } while (cursor !== null);
  return items;
}
