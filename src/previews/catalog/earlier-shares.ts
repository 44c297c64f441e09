import { firstCastIdAt, timestampOfCastId } from "../../db/index/cast-id.ts";
import type { IndexDatabase } from "../../db/index/database.ts";
import { decodeRest } from "../../db/index/messages/fields.ts";
import { embedsOf } from "../../db/index/project/casts.ts";
import { statement } from "../../db/index/statement.ts";
import { previewUrlOf } from "../preview-url.ts";
import type { Share } from "./catalog-store.ts";

const ROWS_PER_READ = 2_000;
/** Maximum number of casts that are examined, newest first: about a day of the whole network. */
const MAX_CASTS = 500_000;

const withRest = statement<
  { id: number; fid: number; rest: Uint8Array | null },
  [below: number, above: number, limit: number]
>(
  "catalog.earlier-casts",
  "SELECT id, fid, rest FROM casts WHERE id < ? AND id >= ? ORDER BY id DESC LIMIT ?",
);

/** Yields what the casts of a time range shared, one read at a time, for a node that did not watch them. */
export function* earlierShares(
  db: IndexDatabase,
  { from, until }: { readonly from: number; readonly until: number },
): Generator<readonly Share[]> {
  const above = firstCastIdAt(from);
  let below = firstCastIdAt(until + 1);
  for (let seen = 0; seen < MAX_CASTS; seen += ROWS_PER_READ) {
    const rows = db.all(withRest, below, above, ROWS_PER_READ);
    yield rows.flatMap(({ id, fid, rest }) =>
      (rest === null ? [] : embedsOf(decodeRest(rest))).flatMap((embed) => {
        const target = "url" in embed ? previewUrlOf(embed.url) : undefined;
        return target ? [{ host: target.host, fid, at: timestampOfCastId(id) }] : [];
      }),
    );
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_PER_READ) return;
    below = last.id;
  }
}
