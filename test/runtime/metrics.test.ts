import { expect, test } from "bun:test";
import { createMetrics } from "../../src/runtime/figures/metrics.ts";
import { commit, version } from "../../src/version.ts";
import { configWith } from "./config.ts";

test("every metric starts with the prefix that service.name gives", async () => {
  const { registry, prefix } = createMetrics(configWith("service.name=mynode2"));
  expect(prefix).toBe("mynode2_");
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => !name.startsWith("mynode2_"))).toEqual([]);
});

test("the text has Prometheus' format and the real values of this process", async () => {
  const { registry } = createMetrics(configWith());
  const lines = (await registry.metrics()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const samples = new Map(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
  const sample = (name: string) => samples.get(`svc_${name}`) ?? Number.NaN;
  expect(sample(`build_info{version="${version}",commit="${commit}"}`)).toBe(1);
  expect([...samples.values()].filter(Number.isNaN)).toEqual([]);
  const { rss } = process.memoryUsage();
  expect(sample("process_resident_memory_bytes")).toBeWithin(rss / 2, rss * 2);
  const startedAt = Date.now() / 1000 - process.uptime();
  expect(sample("process_start_time_seconds")).toBeWithin(startedAt - 5, startedAt + 5);
  expect(sample("process_cpu_seconds_total")).toBeGreaterThan(0);
  expect(sample("process_open_fds")).toBeGreaterThan(2);
  expect(sample("nodejs_heap_size_used_bytes")).toBeGreaterThan(1000);
});

test("two registries of one process are independent", async () => {
  const [one, other] = [createMetrics(configWith()), createMetrics(configWith())];
  one.registry.removeSingleMetric("svc_build_info");
  expect(await other.registry.metrics()).toContain("svc_build_info");
});
