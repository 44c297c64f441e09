import { expect, test } from "bun:test";
import { findRisks } from "../../../src/config/checks/risks.ts";
import { run } from "../../cli/run.ts";
import { configWith } from "../../runtime/config.ts";
import { tempDir } from "../../support/program.ts";

const keysOf = (...set: string[]) => findRisks(configWith(...set)).map(({ key }) => key);

test("a name that many nodes share is a risk on an address that others reach, and only there", () => {
  expect(keysOf()).toEqual([]);
  for (const host of ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
    expect(keysOf(`http.host=${host}`)).toEqual([]);
  for (const host of ["0.0.0.0", "::", "192.168.1.1", "node.example"]) {
    expect(keysOf(`http.host=${host}`)).toContain("service.name");
    expect(keysOf(`http.host=${host}`, "service.name=mynode")).not.toContain("service.name");
  }
});

test("open and unlimited reads are a risk on an address that others reach", () => {
  const open = ["http.host=0.0.0.0", "service.name=mynode"];
  expect(keysOf(...open)).toEqual(["http.anonymous"]);
  expect(keysOf(...open, "http.anonymous=false")).toEqual([]);
  expect(keysOf(...open, "http.anonymous_units_per_minute=600")).toEqual([]);
});

test("trusting every address as a proxy is a risk", () => {
  expect(keysOf("http.trusted_proxies=10.0.0.0/8,::1/128")).toEqual([]);
  expect(keysOf("http.trusted_proxies=0.0.0.0/0")).toEqual(["http.trusted_proxies"]);
  expect(keysOf("http.trusted_proxies=::/0")).toEqual(["http.trusted_proxies"]);
});

test("a bound that an empty index reaches is a risk", () => {
  expect(keysOf("index.max_bytes=0")).toEqual([]);
  expect(keysOf("index.max_bytes=1000000")).toEqual([]);
  expect(keysOf("index.max_bytes=500")).toEqual(["index.max_bytes"]);
});

test("a node logs it when it starts", async () => {
  using dir = tempDir();
  // The port is taken, so that the node never listens beyond this machine.
  await using held = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => new Response() });
  const args = ["--data-dir", dir.path, "--host", "0.0.0.0", "--port", String(held.port), "serve"];
  const { errors } = await run(args);
  expect(errors).toMatch(/"level":"warn".*"setting":"service\.name".*signed requests name no host/);
});
