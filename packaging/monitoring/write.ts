/**
 * Writes what is generated from the panels and alerts: the dashboard, the rules, and their tables in docs/operate/watch.md. Run `bun
 * packaging/monitoring/write.ts`.
 */
import { join } from "node:path";
import { grafanaDashboard } from "./dashboard.ts";
import { rulesFile } from "./rules.ts";
import { alertTable, panelTable } from "./tables.ts";

const WATCH = join(import.meta.dir, "../../docs/operate/watch.md");

const replaceBetween = (text: string, mark: string, content: string) =>
  text.replace(
    new RegExp(`(<!-- ${mark} -->\\n)[\\s\\S]*?(<!-- /${mark} -->)`),
    (_, start: string, end: string) => `${start}\n${content}\n${end}`,
  );

await Bun.write(
  join(import.meta.dir, "grafana-dashboard.json"),
  `${JSON.stringify(grafanaDashboard(), null, 2)}\n`,
);
await Bun.write(join(import.meta.dir, "rules.yml"), rulesFile());
const text = await Bun.file(WATCH).text();
await Bun.write(WATCH, replaceBetween(replaceBetween(text, "panels", panelTable()), "alerts", alertTable()));
