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
    nextAttemptAtMs: row.lease_ends_at_ms === null ? row.due_at_ms : null,
    attempts,
  };
}

/** Rows that one page looks at: kinds and tests have no index of their own. */
const MAX_LOOKED_AT = 2_000;
const ROWS_PER_READ = 500;
const END = Number.MAX_SAFE_INTEGER;

/** Reads at most `max` deliveries before a position, the newest first. */
export type ReadRows = (before: DeliveryPosition, max: number) => Promise<readonly LoggedRow[]>;

/** Reads the rows of a page, and where the next one starts. */
export async function readPage(
  page: DeliveryPage,
  readRows: ReadRows,
): Promise<{ readonly rows: readonly LoggedRow[]; readonly next: DeliveryPosition | undefined }> {
  const { kind, isTest, max, fromSecs = 0 } = page;
  const rows: LoggedRow[] = [];
  let before = startOf(page);
  const wanted = kind === undefined && isTest === undefined ? max + 1 : ROWS_PER_READ;
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

const isSelected = (row: LoggedRow, { kind, isTest }: DeliveryFilter): boolean =>
  (kind === undefined || row.kind === kind) && (isTest === undefined || Boolean(row.is_test) === isTest);

const positionOf = ({ created_at, seq }: LoggedRow): DeliveryPosition => ({ createdAt: created_at, seq });
