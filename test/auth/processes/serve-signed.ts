import pino from "pino";
import { createManagement } from "../../../src/app/management.ts";
import { indexPath, openIndexReader } from "../../../src/index/database.ts";
import { systemClock } from "../../../src/process/clock.ts";
import { appRoutes } from "../../../src/routes/apps/routes.ts";
import { webhookRoutes } from "../../../src/routes/webhooks/routes.ts";
import { openState, statePath } from "../../../src/state/database.ts";
import { configWith } from "../../process/config.ts";
import { runHttp } from "../../support/http.ts";
import { localStores } from "../../support/state-stores.ts";

// The management API of a node over the databases of a directory, without the lock that would keep a second one out.
const [dir = ""] = process.argv.slice(2);
const management = createManagement({
  common: { config: configWith(), clock: systemClock, log: pino({ level: "silent" }) },
  index: openIndexReader(indexPath(dir)),
  state: localStores(openState(statePath(dir))),
});
const http = runHttp({ plugins: [appRoutes(management), webhookRoutes(management)], clock: systemClock });
process.stdout.write(`${http.url}\n`);
