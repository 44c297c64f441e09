import { openState, statePath } from "../../../../../src/db/state/database.ts";
import { startSingleNode } from "../../../../../src/db/state/state-db.ts";
import type { CampaignWork } from "../../../../../src/push/store/campaigns/campaign-store.ts";
import { localStores } from "../../../../support/state-stores.ts";

// Claims every token for its own campaign, in batches, as fast as possible; prints the claimed fids.
const [dir = "", bootId = "", text = "", count = "0"] = process.argv.slice(2);
const work: CampaignWork = JSON.parse(text);
const { ledger } = localStores(openState(statePath(dir)), {
  node: { ...startSingleNode(), bootId },
});
const claimed: number[] = [];
process.stdout.write("ready\n");
// Both processes start claiming when the second one has started.
for await (const _ of Bun.stdin.stream()) break;
for (let from = 0; from < Number(count); from += 10) {
  const batch = Array.from({ length: 10 }, (_, at) => ({ fid: from + at, clientFid: 0 }));
  const result = await ledger.claim(work, batch, 30);
  claimed.push(...result.claimed.map(({ fid }) => fid));
}
process.stdout.write(`${JSON.stringify(claimed)}\n`);
process.exit(0);
