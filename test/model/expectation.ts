import type { Random } from "./random.ts";
import type { View } from "./view.ts";

/** A request and what the model answers to it. Paths are within `/v2/svc`. */
export type Expectation = One | List | Batch;

type Params = Readonly<Record<string, string | number | undefined>>;

/** A request with one whole answer. */
export interface One {
  readonly kind: "one";
  readonly path: string;
  readonly status: number;
  /** The whole body, or what is known of it; for an error nothing but its form is. */
  readonly body?: unknown;
}

/** A paged list; every path answers the same. */
export interface List {
  readonly kind: "list";
  readonly paths: readonly string[];
  /** The list without a limit or a cursor in the query. */
  readonly query: string;
  /** Keys that hold the list, with its whole contents each. */
  readonly lists: Readonly<Record<string, readonly unknown[]>>;
  /** Rows of a page without a limit, where it is not 10. */
  readonly defaultLimit?: number;
}

export interface Batch {
  readonly kind: "batch";
  readonly path: string;
  readonly fids: readonly number[];
  readonly body: unknown;
}

/** What a topic makes its questions from. */
export interface ExpectationContext {
  readonly view: View;
  readonly random: Random;
  /** Some fids that exist, one that others name and one that nobody has. */
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

/** `one`, or 404 for an answer that there is none of. */
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

/** An fid as a number; those beyond what a number can say are nobody. */
export function fidOf(fid: number | string): number {
  return typeof fid === "number" ? fid : -1;
}
