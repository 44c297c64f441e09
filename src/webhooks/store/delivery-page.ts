import type { DeliveryFilter, DeliveryPage, DeliveryPosition } from "./delivery-log.ts";
import type { LoggedRow } from "./logged-rows.ts";

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
