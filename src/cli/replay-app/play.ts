import { printable } from "../../lib/text.ts";
import { type Difference, type DifferenceKind, differences } from "./compare.ts";
import type { RecordedCall } from "./recording.ts";

/** A field of an operation that differs, the number of its responses concerned, and one example. */
export interface FieldDifference {
  readonly field: string;
  readonly kind: DifferenceKind;
  readonly count: number;
  readonly there: unknown;
  readonly here: unknown;
}

/** A node's responses to the recorded calls of one path. */
export interface PlayedOperation {
  readonly call: string;
  readonly played: number;
  /** Statuses that differ, such as `200 -> 404`, with the number of calls. */
  readonly statuses: Readonly<Record<string, number>>;
  readonly fields: readonly FieldDifference[];
}

export interface Replay {
  /** Whether all statuses are equal, and no field is missing or of another type. */
  readonly ok: boolean;
  readonly operations: readonly PlayedOperation[];
  /** Calls that only the app may make, by method and path. */
  readonly notPlayed: Readonly<Record<string, number>>;
}

/** Sends a read to the node; undefined for a body that is not JSON. */
export type Ask = (
  path: string,
  query: string,
) => Promise<{ readonly status: number; readonly body: unknown }>;

const MAX_FIELDS = 300;
const MAX_CALLS = 10_000;
const BREAKING: ReadonlySet<DifferenceKind> = new Set(["missing", "type"]);

/** Plays each distinct read of a recording against a node, one after the other. Writes are only counted. */
export async function playCalls(calls: readonly RecordedCall[], ask: Ask): Promise<Replay> {
  const operations = new Map<
    string,
    { played: number; statuses: Map<string, number>; fields: Map<string, FieldDifference> }
  >();
  const notPlayed: Record<string, number> = {};
  const seen = new Set<string>();
  for (const { method, path, query, status, body, isPlayable } of calls) {
    const call = `${method} ${path}`;
    if (!isPlayable) {
      notPlayed[call] = (notPlayed[call] ?? 0) + 1;
      continue;
    }
    const request = `${path}?${query}`;
    if (seen.has(request) || seen.size >= MAX_CALLS) continue;
    seen.add(request);
    const known = operations.get(call) ?? { played: 0, statuses: new Map(), fields: new Map() };
    operations.set(call, known);
    known.played += 1;
    const response = await ask(path, query);
    if (response.status !== status) {
      const change = `${status} -> ${response.status}`;
      known.statuses.set(change, (known.statuses.get(change) ?? 0) + 1);
      continue;
    }
    for (const difference of body === undefined ? [] : firstOfEach(differences(body, response.body))) {
      const key = `${difference.kind} ${difference.field}`;
      const before = known.fields.get(key);
      if (before === undefined && known.fields.size >= MAX_FIELDS) continue;
      known.fields.set(key, { ...difference, ...before, count: (before?.count ?? 0) + 1 });
    }
  }
  const played = [...operations].map(([call, { played, statuses, fields }]) => ({
    call,
    played,
    statuses: Object.fromEntries(statuses),
    fields: [...fields.values()],
  }));
  const ok = played.every(
    ({ statuses, fields }) =>
      Object.keys(statuses).length === 0 && !fields.some(({ kind }) => BREAKING.has(kind)),
  );
  return { ok, operations: played, notPlayed };
}

/** Returns the first of the list rows that differ in the same way. */
function firstOfEach(found: readonly Difference[]): Difference[] {
  const kept = new Map<string, Difference>();
  for (const difference of found) {
    const key = `${difference.kind} ${difference.field}`;
    if (!kept.has(key)) kept.set(key, difference);
  }
  return [...kept.values()];
}

const TITLES: readonly (readonly [DifferenceKind, string])[] = [
  ["missing", "missing here"],
  ["type", "of another type"],
  ["null", "null on one side"],
  ["row missing", "rows only there"],
  ["row added", "rows only here"],
  ["value", "of another value"],
  ["added", "only here"],
];
const MAX_VALUE_CHARS = 40;

/** Formats the replay for a terminal. */
export function replayText({ ok, operations, notPlayed }: Replay): string {
  const played = operations.reduce((sum, { played }) => sum + played, 0);
  const lines = operations.flatMap(({ call, played, statuses, fields }) => [
    `${printable(call)}  ${played} played`,
    ...Object.entries(statuses).map(([change, count]) => `  status ${change}  ${count}`),
    ...TITLES.flatMap(([kind, title]) =>
      fields
        .filter((field) => field.kind === kind)
        .map(
          ({ field, count, there, here }) =>
            `  ${title}: ${printable(field)}  ${count}  ${value(there)} -> ${value(here)}`,
        ),
    ),
  ]);
  const rest = Object.entries(notPlayed).map(([call, count]) => `  ${printable(call)}  ${count}`);
  return [
    ...lines,
    ...(rest.length > 0 ? ["", "NOT PLAYED: writes, and calls with a credential", ...rest] : []),
    "",
    played === 0
      ? "Nothing was played."
      : `${played} different reads played: ${ok ? "each has the same status, and no field is missing or of another type" : "some have another status, or lack a field"}.`,
    "",
  ].join("\n");
}

function value(one: unknown): string {
  if (one === undefined) return "none";
  const text = JSON.stringify(one);
  return printable(text.length > MAX_VALUE_CHARS ? `${text.slice(0, MAX_VALUE_CHARS)}…` : text);
}
