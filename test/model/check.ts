import type { TestApi } from "../support/api.ts";
import { expectMatchesOpenApi } from "../support/openapi.ts";
import type { Batch, Expectation, List, One } from "./expectation.ts";

/** A response of the node that differs from the model's. */
export interface Difference {
  readonly request: string;
  readonly expected: unknown;
  readonly got: unknown;
}

interface Body {
  readonly [key: string]: unknown;
}

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;
/** The number of pages to read by page size: a request for each row is slow, so only the largest size reaches the end. */
const MAX_PAGES = new Map([
  [1, 12],
  [3, 15],
  [MAX_LIMIT, 1000],
]);

/** Compares the node's response with an expectation. Returns the first difference, or undefined. */
export function check(api: TestApi, question: Expectation): Promise<Difference | undefined> {
  switch (question.kind) {
    case "one":
      return checkOne(api, question);
    case "list":
      return checkList(api, question);
    case "batch":
      return checkBatch(api, question);
  }
}

async function checkOne(api: TestApi, { path, status, body }: One): Promise<Difference | undefined> {
  const response = await api.get(path);
  const isSame =
    status !== 200
      ? typeof response.body.message === "string"
      : typeof body === "function"
        ? body(response.body) === true
        : Bun.deepEquals(response.body, body);
  if (response.status === status && isSame) return undefined;
  return { request: path, expected: { status, body }, got: response };
}

async function checkList(api: TestApi, list: List): Promise<Difference | undefined> {
  const longest = Math.max(...Object.values(list.lists).map((items) => items.length));
  for (const [index, path] of list.paths.entries()) {
    const first = await checkFirstPage(api, path, list, longest);
    if (first) return first;
    // The aliases share the handler, whose pages were compared above.
    if (index > 0) continue;
    for (const [size, maxPages] of MAX_PAGES) {
      const difference = await checkPages(api, path, list, size, maxPages);
      if (difference) return difference;
    }
  }
  return undefined;
}

const slice = (list: List, from: number, to: number): Body =>
  Object.fromEntries(Object.entries(list.lists).map(([key, items]) => [key, items.slice(from, to)]));

/** Checks the page without a limit, and the page with a limit above the maximum. */
async function checkFirstPage(
  api: TestApi,
  path: string,
  list: List,
  longest: number,
): Promise<Difference | undefined> {
  const { defaultLimit = DEFAULT_LIMIT } = list;
  for (const [parameter, size] of [["", defaultLimit] as const, ["limit=1000000000", MAX_LIMIT] as const]) {
    const request = `${path}?${[list.query, parameter].filter((part) => part !== "").join("&")}`;
    const { status, body } = await api.get(request);
    const { next, ...items } = body;
    const expected = slice(list, 0, size);
    const ends = (next as { cursor: unknown }).cursor === null;
    if (status !== 200 || !Bun.deepEquals(items, expected) || ends !== longest <= size)
      return { request, expected: { ...expected, ends: longest <= size }, got: body };
    if (longest <= defaultLimit) break;
  }
  return undefined;
}

/** Follows the cursor. Every page but the last must be full, and together they must be the list. */
async function checkPages(
  api: TestApi,
  path: string,
  list: List,
  size: number,
  maxPages: number,
): Promise<Difference | undefined> {
  const longest = Math.max(...Object.values(list.lists).map((items) => items.length));
  let at = 0;
  let cursor: string | null | undefined;
  do {
    const request = `${path}?${pageQuery(list.query, size, cursor)}`;
    const { status, body } = await api.get(request);
    if (status !== 200) return { request, expected: 200, got: { status, body } };
    const { next, ...items } = body;
    const expected = slice(list, at, at + size);
    cursor = (next as { cursor: string | null }).cursor;
    const isLast = at + size >= longest;
    if (!Bun.deepEquals(items, expected) || (cursor === null) !== isLast)
      return { request: `${request} (rows from ${at})`, expected: { ...expected, isLast }, got: body };
    at += size;
  } while (cursor !== null && at < size * maxPages);
  return undefined;
}

export function pageQuery(query: string, limit: number, cursor: string | null | undefined): string {
  const page = new URLSearchParams(query);
  page.set("limit", String(limit));
  if (cursor) page.set("cursor", cursor);
  return page.toString();
}

async function checkBatch(api: TestApi, { path, fids, body }: Batch): Promise<Difference | undefined> {
  const response = await fetch(`${api.url}/v2/svc${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ fids }),
  });
  const got = (await response.json()) as unknown;
  expectMatchesOpenApi(api.document, "post", `/v2/svc${path}`, response.status, got);
  if (response.status === 200 && Bun.deepEquals(got, body)) return undefined;
  return { request: `POST ${path} ${JSON.stringify(fids)}`, expected: body, got };
}
