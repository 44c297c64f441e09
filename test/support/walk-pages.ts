import type { TestApi } from "./api.ts";

/**
 * Walks a paged list to its end and answers its items.
 * @param path the path with a query, without `limit` and `cursor`
 * @param key the key of the items in each answer
 * @param between called after each page, to change the data in the middle of the walk
 */
export async function walkPages<Item>(
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
    if (status !== 200) throw new Error(`${path} answers ${status}`);
    const part = body[key] as Item[];
    // A client may take a short page for the last one, so none but the last may be short.
    ({ cursor } = body.next as { cursor: string | null });
    if (cursor !== null && part.length !== limit) throw new Error("a page in the middle is short");
    items.push(...part);
    between(page);
    page += 1;
  } while (cursor !== null);
  return items;
}
