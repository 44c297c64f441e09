import { expect, test } from "bun:test";
import { findRisks } from "../../src/config/checks/risks.ts";
import { stateConnections } from "../../src/config/http-workers.ts";
import { maskConfig } from "../../src/config/load.ts";
import { secretTexts } from "../../src/config/secrets.ts";
import { load, problemsOf } from "./input.ts";

const URL_SET = "state.url=postgres://social:hunter2!@db.example/social";

test("the connections of a node are divided among its threads, and never exceed the setting", () => {
  const divide = (...set: string[]) => stateConnections(load({ flags: { set } }).config);
  expect(divide("http.workers=1")).toEqual({
    main: 1,
    ingest: 1,
    maintenance: 1,
    delivery: 4,
    fanOut: 4,
    writes: 2,
    http: 3,
  });
  expect(divide("http.workers=4").http).toBe(2);
  expect(divide("http.workers=4", "state.connections=33").http).toBe(5);
  const { http, ...fixed } = divide("http.workers=3", "state.connections=25");
  expect(Object.values(fixed).reduce((sum, count) => sum + count) + 3 * http).toBeLessThanOrEqual(25);
});

test("too few connections for the HTTP workers are refused where PostgreSQL is used, and only there", () => {
  const set = ["http.workers=4", "state.connections=20"];
  expect(problemsOf({ flags: { set: [...set, URL_SET] } })).toMatchObject([
    { key: "state.connections", message: "must be 0 or at least 21 with the HTTP workers of this node" },
  ]);
  expect(() => load({ flags: { set } })).not.toThrow();
});

test("a node that shares its state may deliver or send nothing; a single node may not", () => {
  const set = ["webhooks.delivery_concurrency=0", "send.send_concurrency=0"];
  expect(problemsOf({ flags: { set } }).map(({ key }) => key)).toEqual([
    "webhooks.delivery_concurrency",
    "send.send_concurrency",
  ]);
  expect(() => load({ flags: { set: [...set, URL_SET] } })).not.toThrow();
});

test("no output shows a password of the state, and a log line may still name the database", () => {
  const { config } = load({ flags: { set: [URL_SET, "state.password=other secret"] } });
  expect(maskConfig(config).state).toMatchObject({
    url: "postgres://***@db.example/***",
    password: "***",
  });
  const texts = secretTexts(config);
  expect(texts).toContain("hunter2!");
  expect(texts).toContain("other secret");
  expect(texts).not.toContain("social");
});

test("a server on another machine that proves nothing is a risk", () => {
  const risks = (mode: string) =>
    findRisks(load({ flags: { set: [`state.url=postgres://u@db.example/d?sslmode=${mode}`] } }).config);
  expect(risks("require").map(({ key }) => key)).toEqual(["state.url"]);
  expect(risks("verify-full")).toEqual([]);
});
