import { type ScoreRow, ScoreState } from "../db/index/counts/scores.ts";
import { UserError } from "../lib/failure.ts";
import { parseJson } from "../lib/json.ts";
import { oneLine } from "../lib/text.ts";

/** `labels`: JSON lines of the public spam labels; `csv`: lines of `fid,score[,reason]`. */
export type ImportFormat = "labels" | "csv";

/** The score of each label value, from 0 to 1. */
export type LabelScores = Readonly<Record<string, number>>;

/** Label 0 is likely spam, 2 is unlikely, 3 was limited for malice; 1 is no longer assigned. */
export const LABEL_SCORES: LabelScores = { 0: 0.1, 1: 0.4, 2: 0.8, 3: 0 };
/** Labels that lower a computed score with `scores.mode = "both"`. */
const CAPPING_LABELS = new Set(["0", "3"]);

const MAX_LINE_CHARS = 65_536;
const MAX_NOTE_CHARS = 200;
const MAX_ACCOUNTS = 20_000_000;
const MAX_BAD_SHARE = 0.01;
const MAX_LISTED = 5;
const HUNDREDTHS = 100;

/** Contents of a file. */
export interface Imported {
  /** By fid, ascending. */
  readonly rows: readonly ScoreRow[];
  readonly lines: number;
  /** Number of lines that do not match the format. The first ones are listed. */
  readonly badLines: number;
  readonly listed: readonly string[];
}

interface Entry {
  readonly fid: number;
  readonly score: number;
  readonly state: number;
  readonly note: string | null;
  /** The newest entry of an fid counts; among equal times, the later line. */
  readonly at: number;
}

/**
 * Reads a file of scores line by line.
 *
 * @throws UserError when more than one line in a hundred does not match the format, or the file has no score.
 */
export async function readScores(
  lines: AsyncIterable<string>,
  format: ImportFormat,
  labelScores: LabelScores = LABEL_SCORES,
): Promise<Imported> {
  const entries = new Map<number, Entry>();
  const listed: string[] = [];
  let count = 0;
  let badLines = 0;
  for await (const line of lines) {
    if (line.trim() === "") continue;
    count += 1;
    // A header.
    if (format === "csv" && count === 1 && /^\s*fid\s*,/.test(line)) continue;
    const entry = format === "csv" ? readCsv(line) : readLabel(line, labelScores);
    if (entry === undefined) {
      badLines += 1;
      if (listed.length < MAX_LISTED) listed.push(`line ${count}: ${JSON.stringify(line.slice(0, 80))}`);
      continue;
    }
    const known = entries.get(entry.fid);
    if (known && known.at > entry.at) continue;
    if (!known && entries.size === MAX_ACCOUNTS)
      throw new UserError(`the file has more than ${MAX_ACCOUNTS} accounts`);
    entries.set(entry.fid, entry);
  }
  if (badLines > count * MAX_BAD_SHARE)
    throw new UserError(
      `${badLines} of ${count} lines are not of the format ${format}: ${listed.join("; ")}`,
    );
  if (entries.size === 0) throw new UserError("the file has no scores; those of the last import stay");
  const rows = [...entries.values()]
    .sort((a, b) => a.fid - b.fid)
    .map(({ fid, score, state, note }) => ({ fid, score, state, note, rank: 0, viaFid: 0, sources: null }));
  return { rows, lines: count, badLines, listed };
}

function readCsv(line: string): Entry | undefined {
  const found = /^\s*(\d{1,16})\s*,\s*(\d(?:\.\d{1,17})?)\s*(?:,(.*))?$/.exec(line);
  if (!found) return undefined;
  const [, fid, score, reason] = found;
  if (!isFid(Number(fid)) || Number(score) > 1) return undefined;
  const note = oneLine(reason?.trim().replace(/^"(.*)"$/, "$1") ?? "", MAX_NOTE_CHARS);
  return {
    fid: Number(fid),
    score: Math.round(Number(score) * HUNDREDTHS),
    state: 0,
    note: note || null,
    at: 0,
  };
}

function readLabel(line: string, labelScores: LabelScores): Entry | undefined {
  const label = fieldsOf(parseJson(line));
  const { target, fid } = fieldsOf(label.type);
  const { label_type: kind, label_value: value, timestamp } = label;
  if (kind !== "spam") return undefined;
  const score = Object.hasOwn(labelScores, String(value)) ? labelScores[String(value)] : undefined;
  if ((target !== "fid" && target !== "user") || typeof fid !== "number" || !isFid(fid)) return undefined;
  if (score === undefined || typeof timestamp !== "number") return undefined;
  const state = CAPPING_LABELS.has(String(value)) ? ScoreState.CappingLabel : 0;
  return { fid, score: Math.round(score * HUNDREDTHS), state, note: `spam label ${value}`, at: timestamp };
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function isFid(fid: number): boolean {
  return Number.isSafeInteger(fid) && fid > 0;
}

/**
 * Yields the lines of a stream of UTF-8.
 *
 * @throws UserError for a line of more than 64 KB.
 */
export async function* linesOf(stream: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split(/\r?\n/);
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length > MAX_LINE_CHARS)
      throw new UserError(`a line has more than ${MAX_LINE_CHARS} characters`);
  }
  if (rest !== "") yield rest;
}
