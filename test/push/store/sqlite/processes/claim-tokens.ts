import { openState, statePath } from "../../../../../src/db/state/database.ts";
import { localStores } from "../../../../support/state-stores.ts";

// Claims every token for its own campaign, in batches, as fast as possible; prints the claimed fids.
const [dir = "", campaignId = "", count = "0"] = process.argv.slice(2);
const db = openState(statePath(dir));
const work = await localStores(db).campaigns.start(campaignId, 100);
const ledger = localStores(db).ledger;
const taken: number[] = [];
process.stdout.write("ready\n");
// Both processes start claiming when the second one has started.
for await (const _ of Bun.stdin.stream()) break;
for (let from = 0; work && from < Number(count); from += 10) {
  const batch = Array.from({ length: 10 }, (_, at) => ({ fid: from + at, clientFid: 0 }));
  const claimed = await ledger.claim(work, batch, 30);
  taken.push(...claimed.claimed.map(({ fid }) => fid));
}
process.stdout.write(`${JSON.stringify(taken)}\n`);
process.exit(0);
