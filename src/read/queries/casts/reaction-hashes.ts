import type { IndexDatabase } from "../../../db/index/database.ts";
import { networkOfIndex } from "../../../db/index/identity.ts";
import { encodeData } from "../../../db/index/messages/encode-data.ts";
import { statement } from "../../../db/index/statement.ts";
import { messageHash } from "../../../protocol/message-hash.ts";
import { type Hash, hex } from "../../hydrate/casts.ts";

/** The primary key of a reaction. */
export interface ReactionKey {
  readonly fid: number;
  readonly targetFid: number;
  readonly targetId: number;
  readonly type: number;
}

interface Row {
  at: number;
  fid: number;
  type: number;
  timestamp: number;
  targetFid: number;
  targetHash: Uint8Array | null;
  targetUrl: string | null;
  /** The signed bytes, if they differ from those that the columns give. */
  data: Uint8Array | null;
}

const rowsOf = statement<Row, [keysJson: string]>(
  "skeleton.reaction-hashes",
  `SELECT j.key AS at, r.fid, r.type, r.timestamp, r.target_fid AS targetFid, e.data,
     (SELECT hash FROM casts WHERE id = r.target_id
      UNION ALL SELECT hash FROM missing_casts WHERE id = r.target_id LIMIT 1) AS targetHash,
     CASE WHEN r.target_fid = 0 THEN (SELECT url FROM urls WHERE id = r.target_id) END AS targetUrl
   FROM json_each(?) j
   CROSS JOIN reactions r ON r.fid = j.value ->> 0 AND r.target_fid = j.value ->> 1
     AND r.target_id = j.value ->> 2 AND r.type = j.value ->> 3
   CROSS JOIN envelopes e ON e.id = r.envelope_id`,
);

/**
 * Returns the hashes of reactions, which no table stores, in the order of `keys`. Takes a few microseconds for each, so call it
 * only where the order or a cursor needs them.
 */
export function hashesOfReactions(db: IndexDatabase, keys: readonly ReactionKey[]): Hash[] {
  const hashes: Hash[] = new Array(keys.length).fill("0x");
  if (keys.length === 0) return hashes;
  const network = networkOfIndex(db);
  const json = JSON.stringify(keys.map((key) => [key.fid, key.targetFid, key.targetId, key.type]));
  for (const { at, data, ...columns } of db.all(rowsOf, json))
    hashes[at] = hex(messageHash(data ?? encodeData({ table: "reactions", ...columns }, network)));
  return hashes;
}
