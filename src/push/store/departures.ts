import { sql } from "../../db/state/sql.ts";
import { stateSecs } from "../../db/state/state-clock.ts";
import type { Queries, Tx } from "../../db/state/state-db.ts";
import { table, whole } from "../../db/state/table.ts";
import type { Departures } from "./campaigns/campaign-store.ts";
import { blockOf, FidBlock } from "./campaigns/ledger-block.ts";

/**
 * People who turned the app's notifications off, or removed the app, within a day of a campaign. They count for the last campaign that
 * had reached them.
 */
export const campaignDepartures = table(
  "campaign_departures",
  {
    campaign: whole(),
    fid: whole(),
    client_fid: whole(),
  },
  {
    key: ["campaign", "fid"],
  },
);

/** How long after a send someone's leaving counts as a response to it. */
const DEPARTURE_SECS = 86_400;
/** How many sends of an app are searched, newest first. */
const MAX_CAMPAIGNS = 50;

const sentLately = sql<
  { campaign: number; fids: Uint8Array },
  [appId: string, clientFid: number, block: number, since: number]
>(
  "campaign-departures.sent",
  `SELECT c.seq AS campaign, d.fids FROM
     (SELECT seq, dedupe_key, created_at FROM campaigns WHERE app_id = $1 ORDER BY seq DESC LIMIT ${MAX_CAMPAIGNS}) c
   JOIN dedupe d ON d.key = c.dedupe_key AND d.client_fid = $2 AND d.block = $3 AND d.campaign = c.seq AND d.sent
   WHERE c.created_at > $4 ORDER BY c.seq DESC`,
);
const insert = sql<unknown, [campaign: number, fid: number, clientFid: number]>(
  "campaign-departures.insert",
  `INSERT INTO campaign_departures (campaign, fid, client_fid) VALUES ($1, $2, $3)
   ON CONFLICT (campaign, fid) DO NOTHING`,
);
const peopleOf = sql<
  { campaign: number; client_fid: number; people: number },
  [campaigns: readonly number[]]
>(
  "campaign-departures.of",
  `SELECT campaign, client_fid, count(*) AS people FROM campaign_departures
   WHERE campaign = ANY ($1::bigint[]) GROUP BY campaign, client_fid ORDER BY campaign, client_fid`,
);

/** Notes that someone has turned notifications off, for the last campaign within a day that reached them in this client. */
export async function noteDeparture(
  tx: Tx,
  { appId, fid, clientFid }: { readonly appId: string; readonly fid: number; readonly clientFid: number },
): Promise<void> {
  const since = stateSecs(tx.clock) - DEPARTURE_SECS;
  const sent = await tx.all(sentLately, appId, clientFid, blockOf(fid), since);
  const last = sent.find(({ fids }) => new FidBlock(fids).has(fid));
  if (last) await tx.run(insert, last.campaign, fid, clientFid);
}

export async function readDepartures(db: Queries, campaigns: readonly number[]): Promise<Departures[]> {
  return (await db.all(peopleOf, campaigns)).map(({ campaign, client_fid, people }) => ({
    campaign,
    clientFid: client_fid,
    people,
  }));
}
