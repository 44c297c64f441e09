import type { QueryParams } from "../request/params.ts";
import { parseQueryString, type RawQuery } from "../request/query-string.ts";

const ITEMS_PER_PRICE = 25;

/** What a request asks for, from the decoded query of its route. */
export type Asked = ReturnType<ReturnType<typeof askedOf>>;

/** The price of a request in units. */
export type Price = (asked: Asked) => number;

/** Every request costs the same. */
export const flat =
  (units: number): Price =>
  () =>
    units;

/** The price per 25 requested rows, or part of them. */
export const perRows =
  (units: number): Price =>
  ({ rows }) =>
    units * parts(rows());

/** The price per 25 requested ids, or part of them. */
export const perIds =
  (units: number): Price =>
  ({ items }) =>
    units * parts(items());

function parts(count: number): number {
  return Math.max(1, Math.ceil(count / ITEMS_PER_PRICE));
}

const NOTHING: RawQuery = {};

/**
 * Returns a function that reads what URLs of a route ask for, decoded with the parameters of its query. A query that the route refuses
 * asks for nothing.
 */
export function askedOf(params: QueryParams) {
  const asking = (asks: "rows" | "items") =>
    Object.entries(params).filter(([, param]) => param.asks === asks);
  const ofRows = asking("rows");
  const itemKeys = asking("items").flatMap(([name, { keys = [name] }]) => keys);
  return (url: string) => {
    let raw: RawQuery | undefined;
    const query = (): RawQuery => {
      raw ??= orElse(() => parseQueryString(url), NOTHING);
      return raw;
    };
    return {
      query,
      /** Returns the page size; 0 for a route without pages. */
      rows: (): number =>
        ofRows.reduce((sum, [name, param]) => {
          const key = param.keys?.find((each) => query()[each] !== undefined) ?? name;
          return sum + orElse(() => Number(param.decode(query()[key] ?? [], key)), 0);
        }, 0),
      /** Returns the number of items in its lists, such as ids. */
      items(): number {
        let sum = 0;
        for (const key of itemKeys) sum += countItems(query()[key] ?? []);
        return sum;
      },
    };
  };
}

function countItems(values: readonly string[]): number {
  return values.reduce((sum, value) => sum + value.split(",").length, 0);
}

function orElse<T>(read: () => T, fallback: T): T {
  try {
    return read();
  } catch {
    return fallback;
  }
}
