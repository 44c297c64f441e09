import { type Panel, type PanelRow, rows } from "./panels.ts";

const COLUMNS = 24;
const STAT_HEIGHT = 4;
const PANEL_HEIGHT = 8;
// biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of Grafana
const DATASOURCE = { type: "prometheus", uid: "${datasource}" } as const;

/**
 * Returns the Grafana dashboard (schema 39 and newer) for nodes whose `service.name` is `service`. One variable selects the data source,
 * another the nodes.
 */
export function grafanaDashboard(service = "svc"): object {
  const panels: object[] = [];
  let y = 0;
  for (const row of rows) {
    panels.push({
      type: "row",
      title: row.title,
      collapsed: false,
      gridPos: { x: 0, y, w: COLUMNS, h: 1 },
      panels: [],
    });
    y += 1;
    panels.push(...row.panels.map((panel, at) => panelOf(panel, row, at, y, service)));
    y += heightOf(row);
  }
  return {
    uid: service,
    title: service,
    tags: ["farcaster"],
    schemaVersion: 39,
    editable: true,
    refresh: "30s",
    time: { from: "now-6h", to: "now" },
    templating: {
      list: [
        { name: "datasource", type: "datasource", query: "prometheus", label: "Data source" },
        {
          name: "instance",
          type: "query",
          label: "Node",
          datasource: DATASOURCE,
          query: `label_values(${service}_build_info, instance)`,
          multi: true,
          includeAll: true,
          current: { text: "All", value: "$__all" },
        },
      ],
    },
    panels: panels.map((panel, id) => ({ id: id + 1, ...panel })),
  };
}

const heightOf = ({ panels }: PanelRow) => (panels.every(({ stat }) => stat) ? STAT_HEIGHT : PANEL_HEIGHT);

function panelOf(panel: Panel, row: PanelRow, at: number, y: number, service: string): object {
  const { title, description, unit, stat, queries } = panel;
  // Grafana accepts only whole columns.
  const [x, end] = [at, at + 1].map((nth) => Math.round((COLUMNS * nth) / row.panels.length)) as [
    number,
    number,
  ];
  const steps =
    stat === undefined
      ? [{ color: "green", value: null }]
      : "badFrom" in stat
        ? [
            { color: "green", value: null },
            { color: "red", value: stat.badFrom },
          ]
        : [
            { color: "red", value: null },
            { color: "green", value: stat.badBelow },
          ];
  return {
    type: stat ? "stat" : "timeseries",
    title,
    description,
    datasource: DATASOURCE,
    gridPos: { x, y, w: end - x, h: heightOf(row) },
    fieldConfig: { defaults: { unit, min: 0, thresholds: { mode: "absolute", steps } }, overrides: [] },
    options: stat ? { reduceOptions: { calcs: ["lastNotNull"] } } : { tooltip: { mode: "multi" } },
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode(65 + index),
      datasource: DATASOURCE,
      expr: forNodes(expr.replaceAll(/\bsvc_/g, `${service}_`), service),
      legendFormat: legend,
    })),
  };
}

/** Restricts every metric of an expression to the selected nodes. */
function forNodes(expr: string, service: string): string {
  return expr.replaceAll(
    new RegExp(`\\b(${service}_\\w+)(\\{([^}]*)\\})?`, "g"),
    (_, metric: string, _braces: string | undefined, labels: string | undefined) =>
      `${metric}{${labels ? `${labels},` : ""}instance=~"$instance"}`,
  );
}

/** Returns the names of all metrics in a PromQL expression. */
export function metricsIn(expr: string): string[] {
  return [...new Set(expr.match(/\bsvc_\w+/g) ?? [])];
}
