import type { EventKind } from "../../../protocol/event-kind.ts";
import type {
  DeliveryFilter,
  DeliveryPage,
  DeliveryPosition,
  DeliveryState,
  LoggedDelivery,
} from "../delivery-log.ts";
import type { Attempt } from "../delivery-queue.ts";

/** A delivery with its event, as a database returns it. */
export interface LoggedRow {
  readonly seq: number;
  readonly message_id: string;
  readonly event_id: string;
  readonly kind: EventKind;
  readonly is_test: number | boolean;
  readonly state: DeliveryState;
  readonly created_at: number;
  readonly due_at_ms: number | null;
  readonly lease_ends_at_ms: number | null;
  readonly ended_at: number | null;
  readonly replay_id: string | null;
}

/** A row with whether it contains the searched text, and the status of its last response. */
export interface SearchedRow extends LoggedRow {
  readonly has_text: number | boolean;
  readonly last_status: number | null;
}

/** Reports whether a list has to read more of each row than it returns. */
export const isSearch = ({ text, status }: DeliveryFilter): boolean =>
  text !== undefined || status !== undefined;

/**
 * Returns what to search for: patterns of the body (LIKE, with `\\` as escape), and the text itself as an id. A number is an fid, which
 * ends where its digits end; anything else but a hash is the host of a URL.
 */
export function searchedFor(text: string): {
  readonly id: string;
  readonly patterns: readonly [string, string];
} {
  const escaped = text.toLowerCase().replace(/[\\%_]/g, (one) => `\\${one}`);
  if (/^\d{1,16}$/.test(text)) return { id: text, patterns: [`%"fid":${text},%`, `%"fid":${text}}%`] };
  if (/^0x[0-9a-f]+$/i.test(text)) return { id: text, patterns: [`%${escaped}%`, `%${escaped}%`] };
  return { id: text, patterns: [`%//${escaped}/%`, `%//${escaped}"%`] };
}

export interface AttemptRow {
  readonly at_ms: number;
  readonly status: number | null;
  readonly error: string | null;
  readonly duration_ms: number;
  readonly answer: string;
}

export function toAttempt({ at_ms, status, error, duration_ms, answer }: AttemptRow): Attempt {
  return {
    atMs: at_ms,
    status,
    error,
    durationMs: duration_ms,
    responseText: answer,
  };
}

export function toLogged(row: LoggedRow, attempts: readonly Attempt[]): LoggedDelivery {
  return {
    seq: row.seq,
    messageId: row.message_id,
    eventId: row.event_id,
    kind: row.kind,
    isTest: Boolean(row.is_test),
    state: row.state,
    createdAt: row.created_at,
    endedAt: row.ended_at,
    replayId: row.replay_id,
    nextAttemptAtMs: row.lease_ends_at_ms === null ? row.due_at_ms : null,
    attempts,
  };
}

/** How many rows one page examines: kinds and tests have no index. */
const MAX_LOOKED_AT = 2_000;
const ROWS_PER_READ = 500;
const END = Number.MAX_SAFE_INTEGER;

/** Reads at most `max` deliveries before a position, newest first. */
export type ReadRows = (
  before: DeliveryPosition,
  max: number,
) => Promise<readonly (LoggedRow | SearchedRow)[]>;

/** Reads the rows of a page, and where the next one starts. */
export async function readPage(
  page: DeliveryPage,
  readRows: ReadRows,
): Promise<{ readonly rows: readonly LoggedRow[]; readonly next: DeliveryPosition | undefined }> {
  const { max, fromSecs = 0 } = page;
  const { kind, isTest, replayId } = page;
  const rows: LoggedRow[] = [];
  let before = startOf(page);
  const isWhole = [kind, isTest, replayId].every((one) => one === undefined) && !isSearch(page);
  const wanted = isWhole ? max + 1 : ROWS_PER_READ;
  for (let lookedAt = 0; lookedAt < MAX_LOOKED_AT; lookedAt += wanted) {
    const read = await readRows(before, wanted);
    for (const row of read) {
      if (row.created_at < fromSecs) return { rows, next: undefined };
      if (!isSelected(row, page)) continue;
      const last = rows.at(-1);
      if (last && rows.length === max) return { rows, next: positionOf(last) };
      rows.push(row);
    }
    const last = read.at(-1);
    if (!last || read.length < wanted) return { rows, next: undefined };
    before = positionOf(last);
  }
  return { rows, next: before };
}

function startOf({ after, toSecs = END }: DeliveryPage): DeliveryPosition {
  return after && after.createdAt <= toSecs ? after : { createdAt: toSecs, seq: END };
}

const isSelected = (row: LoggedRow | SearchedRow, filter: DeliveryFilter): boolean => {
  const { kind, isTest, replayId, text, status } = filter;
  if (kind !== undefined && row.kind !== kind) return false;
  if (isTest !== undefined && Boolean(row.is_test) !== isTest) return false;
  if (replayId !== undefined && row.replay_id !== replayId) return false;
  if (!("has_text" in row)) return true;
  return (
    (text === undefined || Boolean(row.has_text)) && (status === undefined || row.last_status === status)
  );
};

const positionOf = ({ created_at, seq }: LoggedRow): DeliveryPosition => ({ createdAt: created_at, seq });
