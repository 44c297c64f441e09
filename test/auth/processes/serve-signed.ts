import type { ApiDeps } from "../../../src/api/deps.ts";
import { pluginOf } from "../../../src/api/op.ts";
import { appOperations } from "../../../src/api/operations/apps/apps.ts";
import { webhookOperations } from "../../../src/api/operations/webhooks/webhooks.ts";
import { indexPath, openIndexReader } from "../../../src/db/index/database.ts";
import { openState, statePath } from "../../../src/db/state/database.ts";
import { createManagement } from "../../../src/node/compose/management.ts";
import { systemClock } from "../../../src/runtime/clock.ts";
import { configWith } from "../../runtime/config.ts";
import { runHttp } from "../../support/http.ts";
import { silentLog } from "../../support/log.ts";
import { localStores } from "../../support/state-stores.ts";

// The management API of a node over the databases of a directory, without the lock that would keep a second one out.
const [dir = ""] = process.argv.slice(2);
const management = createManagement({
  common: { config: configWith(), clock: systemClock, log: silentLog },
  index: openIndexReader(indexPath(dir)),
  state: localStores(openState(statePath(dir))),
});
const operations = [...appOperations, ...webhookOperations];
const http = runHttp({
  plugins: [pluginOf("native", operations, management as ApiDeps)],
  clock: systemClock,
});
process.stdout.write(`${http.url}\n`);
