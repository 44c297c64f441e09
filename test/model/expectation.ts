import type { Random } from "./random.ts";
import type { View } from "./view.ts";

/** A request and the response that the model expects. Paths are within `/v2/svc`. */
export type Expectation = One | List | Batch;

type Params = Readonly<Record<string, string | number | undefined>>;

/** A request with a single response. */
export interface One {
  readonly kind: "one";
  readonly path: string;
  readonly status: number;
  /** The whole body, or a check of it. For an error, only the form is checked. */
  readonly body?: unknown;
}

/** A paged list. Every path returns the same list. */
export interface List {
  readonly kind: "list";
  readonly paths: readonly string[];
  /** The query without a limit and a cursor. */
  readonly query: string;
  /** The whole list under each key of the response. */
  readonly lists: Readonly<Record<string, readonly unknown[]>>;
  /** The rows of a page without a limit, 10 by default. */
  readonly defaultLimit?: number;
}

export interface Batch {
  readonly kind: "batch";
  readonly path: string;
  readonly fids: readonly number[];
  readonly body: unknown;
}

/** The input from which a topic creates its expectations. */
export interface ExpectationContext {
  readonly view: View;
  readonly random: Random;
  /** Some fids that exist, one that others name, and one that does not exist. */
  readonly fids: readonly (number | string)[];
}

/** 2^32 + 3, and 2^53 + 3 as text: well formed, and not fid 3. */
export const UNKNOWN_FIDS = ["4294967299", "9007199254740995"] as const;

export function queryOf(params: Params): string {
  const given = Object.entries(params).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  );
  return new URLSearchParams(given).toString();
}

export function one(path: string, params: Params, body: unknown): One {
  return { kind: "one", path: `${path}?${queryOf(params)}`, status: 200, body };
}

export function refused(path: string, params: Params, status: number): One {
  return { kind: "one", path: `${path}?${queryOf(params)}`, status };
}

/** `one`, or 404 when the value is undefined. */
export function found(path: string, params: Params, key: string, value: unknown): One {
  return value === undefined ? refused(path, params, 404) : one(path, params, { [key]: value });
}

export function list(
  paths: readonly string[],
  params: Params,
  lists: Readonly<Record<string, readonly unknown[]>>,
): List {
  return { kind: "list", paths, query: queryOf(params), lists };
}

/** Returns an fid as a number, and -1 for an fid in text form, which does not exist. */
export function fidOf(fid: number | string): number {
  return typeof fid === "number" ? fid : -1;
}
