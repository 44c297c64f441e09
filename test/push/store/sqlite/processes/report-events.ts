import { openState } from "../../../../../src/db/state/database.ts";
import { localStores } from "../../../../support/state-stores.ts";

// Applies many events of one user to one app; prints how many were applied.
const [path = "", firstClient = "0"] = process.argv.slice(2);
const tokens = localStores(openState(path)).tokens;
const limit = { maxChanges: 60, windowSecs: 3600 };
process.stdout.write("ready\n");
for await (const _ of process.stdin) break;
let applied = 0;
for (let n = 0; n < 50; n += 1) {
  const details = { url: "https://client.example", host: "client.example", token: `t${n}` };
  const change = { appId: "app", fid: 5, clientFid: Number(firstClient) + n, nowSecs: 1000 };
  const outcome = await tokens.apply({ ...change, event: { name: "miniapp_added", details } }, limit);
  if (outcome === "applied") applied += 1;
}
process.stdout.write(`${applied}\n`);
process.exit();
