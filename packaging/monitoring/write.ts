/** Writes what is made from the panels: the dashboard, and the list of panels in docs/operate.md. `bun packaging/monitoring/write.ts` */
import { join } from "node:path";
import { grafanaDashboard } from "./dashboard.ts";
import { panelTable } from "./panel-table.ts";

const ROOT = join(import.meta.dir, "../..");
const OPERATE = join(ROOT, "docs/operate.md");

await Bun.write(
  join(import.meta.dir, "grafana-dashboard.json"),
  `${JSON.stringify(grafanaDashboard(), null, 2)}\n`,
);
const text = await Bun.file(OPERATE).text();
await Bun.write(
  OPERATE,
  text.replace(/(<!-- panels -->\n)[\s\S]*?(<!-- \/panels -->)/, `$1\n${panelTable()}\n$2`),
);
