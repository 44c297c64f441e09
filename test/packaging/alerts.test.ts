import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { alerts } from "../../packaging/monitoring/alerts.ts";
import { alertName, rulesFile, runbookOf } from "../../packaging/monitoring/rules.ts";
import { documentText, ROOT } from "../support/documents.ts";
import { tempDir } from "../support/program.ts";
import { alertCases } from "./alert-cases.ts";

const promtool = Bun.which("promtool");
const EVALUATED_AT = "90m";

test("every alert has cases, a text for people, and a heading of the documents that says more", () => {
  expect(Object.keys(alertCases)).toEqual(alerts.map(({ name }) => name));
  for (const alert of alerts) {
    const [file = "", heading] = runbookOf(alert).split("#");
    expect(existsSync(join(ROOT, file))).toBe(true);
    const headings = [...documentText(file).matchAll(/^##+ (.+)$/gm)].map(([, text = ""]) =>
      text
        .toLowerCase()
        .replaceAll(/[^\w -]/g, "")
        .replaceAll(" ", "-"),
    );
    expect([alert.name, headings]).toEqual([alert.name, expect.arrayContaining([heading])]);
    expect(alert.summary.length).toBeLessThan(120);
    for (const text of [alert.summary, alert.action]) expect(text).toEndWith(".");
  }
});

/** The unit tests of the rules: each case is a node, and an alert fires exactly for the nodes of its own cases. */
function unitTests(rulesPath: string): object {
  const nodes = Object.entries(alertCases).flatMap(([name, { fires, quiet }]) => [
    ...fires.map((series, at) => ({ name, instance: `${name}-${at}`, series, fires: true })),
    ...quiet.map((series, at) => ({ name, instance: `${name}-quiet-${at}`, series, fires: false })),
  ]);
  const inputs = nodes.flatMap(({ instance, series }) =>
    Object.entries(series).map(([name, values]) => {
      const labels = `job="svc",instance="${instance}"`;
      return {
        series: name.endsWith("}") ? `${name.slice(0, -1)},${labels}}` : `${name}{${labels}}`,
        values,
      };
    }),
  );
  const firing = (name: string) =>
    `count by (instance) (ALERTS{alertname="${alertName({ name })}",alertstate="firing",instance=~"${name}-.+"}) > bool 0`;
  return {
    rule_files: [rulesPath],
    evaluation_interval: "1m",
    tests: [
      {
        interval: "1m",
        input_series: inputs,
        promql_expr_test: alerts.flatMap(({ name, for: duration }) => [
          {
            expr: firing(name),
            eval_time: EVALUATED_AT,
            exp_samples: nodes
              .filter((node) => node.name === name && node.fires)
              .map(({ instance }) => ({ labels: `{instance="${instance}"}`, value: 1 })),
          },
          // What began with the test has not lasted for long enough.
          ...(duration ? [{ expr: firing(name), eval_time: "0m", exp_samples: [] }] : []),
        ]),
      },
    ],
  };
}

test.skipIf(promtool === null)(
  "promtool accepts the rules, and each alert fires only for its nodes, from the first event on",
  async () => {
    using dir = tempDir();
    const rules = join(ROOT, "packaging/monitoring/rules.yml");
    const cases = join(dir.path, "cases.json");
    // JSON is YAML.
    await Bun.write(cases, JSON.stringify(unitTests(rules)));
    const run = (...args: string[]) => {
      const { exitCode, stdout, stderr } = Bun.spawnSync([promtool ?? "", ...args]);
      return { exitCode, said: `${stdout}${stderr}` };
    };
    expect(run("check", "rules", rules)).toMatchObject({ exitCode: 0 });
    const { exitCode, said } = run("test", "rules", cases);
    expect([exitCode, said]).toEqual([0, expect.stringContaining("SUCCESS")]);
    expect(
      run("check", "config", "--syntax-only", join(ROOT, "packaging/monitoring/prometheus.yml")),
    ).toMatchObject({
      exitCode: 0,
    });
  },
);

test("rules for another name of the service watch its metrics and its job", () => {
  const other = rulesFile("bread");
  expect(other).not.toMatch(/\bsvc/i);
  expect(other).toContain("alert: BreadDown");
  expect(other).toContain('up{job="bread"}');
});
