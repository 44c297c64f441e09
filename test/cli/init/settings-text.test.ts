import { describe, expect, test } from "bun:test";
import type { Wanted } from "../../../src/cli/init/choice.ts";
import { settingsFiles } from "../../../src/cli/init/settings-text.ts";

const wanted: Wanted = {
  choice: { kind: "all" },
  upstreamUrl: "http://127.0.0.1:3383",
  output: "/x/svc.toml",
  dataDir: "/x/data",
  isPublic: false,
  set: [],
};

const settingsText = (...given: Parameters<typeof settingsFiles>) => settingsFiles(...given)[0].text;

/** The line of a setting, after its comment. */
function commented(name: string, more: Partial<Wanted>): string | undefined {
  const lines = settingsText({ ...wanted, ...more }, { text: "The whole network." }).split("\n");
  const at = lines.findIndex((line) => line.startsWith(`${name} = `));
  return at < 0 ? undefined : `${lines[at - 1]} ${lines[at]}`;
}

describe("a setting that the operator names", () => {
  test.each([
    [[], '# Only this machine; 0.0.0.0 serves every network. host = "127.0.0.1"'],
    [["http.host=::1"], '# Only this machine; 0.0.0.0 serves every network. host = "::1"'],
    [
      ["http.host=0.0.0.0"],
      '# Every network of this machine. Put a proxy with TLS in front of it. host = "0.0.0.0"',
    ],
    [["http.host=10.0.0.5"], '# Other machines, too. Put a proxy with TLS in front of it. host = "10.0.0.5"'],
  ])("%j has a comment that is true of it", (set, expected) => {
    expect(commented("host", { set })).toBe(expected);
  });

  test("as a host for other machines has the limit of a public node, unless that is named, too", () => {
    const set = ["http.host=0.0.0.0"];
    const units = "anonymous_units_per_minute";
    expect(commented(units, {})).toBeUndefined();
    expect(commented(units, { set })).toBe(commented(units, { isPublic: true }));
    expect(commented(units, { set: [...set, `http.${units}=7`] })).toBe(
      `# What one client address may read without a key: 0 is no limit. ${units} = 7`,
    );
  });

  test("more than once has its last value, once", () => {
    const text = settingsText(
      { ...wanted, set: ["http.port=1", "log.level=warn", "http.port=2"] },
      { text: "" },
    );
    expect(text.match(/^port = .*$/gm)).toEqual(["port = 2"]);
    expect(Bun.TOML.parse(text)).toMatchObject({ http: { port: 2 }, log: { level: "warn" } });
  });
});
