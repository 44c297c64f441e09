const ROWS_PER_PRICE = 25;
const DEFAULT_ROWS = 25;
const MAX_ROWS = 100;
const LIMIT = /[?&]limit=0*(\d{1,4})/;
const COMMA = /,|%2c/gi;
const AMPERSAND = /&/g;
/** Of a request whose ids are in one list; further ones may be repeated keys. */
const MAX_OTHER_PARAMS = 4;

/** The price of a request in units, from its URL. */
export type Price = (url: string) => number;

/** Every request costs the same. */
export const flat =
  (units: number): Price =>
  () =>
    units;

/** For each 25 rows, or part of them, of the page size that is asked for. */
export const perRows =
  (units: number): Price =>
  (url) => {
    const asked = Number(LIMIT.exec(url)?.[1] ?? DEFAULT_ROWS);
    return units * parts(Math.min(Math.max(asked, 1), MAX_ROWS));
  };

/** For each 25 ids, or part of them, that are asked for. */
export const perIds =
  (units: number): Price =>
  (url) => {
    const commas = url.match(COMMA)?.length ?? 0;
    const params = url.match(AMPERSAND)?.length ?? 0;
    return units * parts(1 + commas + Math.max(0, params - MAX_OTHER_PARAMS));
  };

function parts(count: number): number {
  return Math.ceil(count / ROWS_PER_PRICE);
}
