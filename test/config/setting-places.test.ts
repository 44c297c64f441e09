import { expect, test } from "bun:test";
import { settingDefaults, settingMeanings, settingPlaces } from "../../src/config/load.ts";
import { settings } from "../../src/config/settings/settings.ts";
import { load } from "./input.ts";

const TEXT = [
  "# A node.",
  "[http]",
  "# The port,",
  "# of all.",
  "port = 9000",
  "",
  "[state]",
  'password_file = "/p"',
];

test("a key of a file has its line and the comment above it", () => {
  expect([...settingPlaces(TEXT.join("\n"))]).toEqual([
    ["http.port", { line: 5, comment: "The port, of all." }],
    ["state.password_file", { line: 8, comment: "" }],
  ]);
});

test("console-next 8: settings name the file with the line, the variable or the flag that they are from", () => {
  const { places, sources } = load({
    files: { "/cwd/svc.toml": TEXT.join("\n"), "/p": "secret" },
    env: { SVC_HTTP_WORKERS: "2" },
    flags: { set: ["log.level=warn"] },
  });
  const at = (key: string) => places.get(key);
  expect([
    at("http.port"),
    at("state.password"),
    at("http.workers"),
    at("log.level"),
    at("hub.port"),
  ]).toEqual([
    "/cwd/svc.toml, line 5",
    "/cwd/svc.toml, line 8",
    "SVC_HTTP_WORKERS",
    sources.get("log.level"),
    "default",
  ]);
});

test("each setting has a default, and nearly each a meaning", () => {
  const keys = settings.map(({ key }) => key);
  expect([...settingDefaults().keys()].toSorted()).toEqual(keys.toSorted());
  const meanings = settingMeanings();
  const without = keys.filter((key) => (meanings.get(key) ?? "") === "");
  expect(without.length).toBeLessThan(keys.length / 5);
});
