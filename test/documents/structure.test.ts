import { describe, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";
import { scripts } from "../../package.json" with { type: "json" };
import { settings } from "../../src/config/settings/settings.ts";
import { configWith } from "../runtime/config.ts";
import { compiledProgram } from "../support/compiled-program.ts";
import { codeBlocks, documents, documentText, ROOT } from "../support/documents.ts";

/** Names of signed operations look like settings. */
const OPERATIONS = new Set(["app.create", "app.read"]);

/** The texts without their code blocks. */
const prose = documents.map(({ path, text }) => ({ path, text: text.replace(/^```[\s\S]*?^```$/gm, "") }));

/** The anchors that GitHub gives the headings of a document. */
function anchorsOf(path: string): Set<string> {
  const text = prose.find((document) => document.path === path)?.text ?? "";
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

describe("the README", () => {
  test("has at most 200 lines", () => {
    expect(documentText("README.md").trimEnd().split("\n").length).toBeLessThanOrEqual(200);
  });

  test("has each of its two commands on a line of its own, where newcomers and .ci/run look for it", () => {
    for (const command of ["start", "test"])
      expect(documentText("README.md")).toMatch(new RegExp(`^npx --yes bun@[0-9.]+ run ${command}$`, "m"));
  });

  test("leads to every document", () => {
    const linked = new Set<string>();
    const follow = (path: string) => {
      if (linked.has(path)) return;
      linked.add(path);
      for (const [, target = ""] of documentText(path).matchAll(/\]\(([^)#:]+\.md)[)#]/g))
        follow(normalize(join(dirname(path), target)));
    };
    follow("README.md");
    expect(documents.map(({ path }) => path).filter((path) => !linked.has(path))).toEqual([]);
  });
});

describe("documents", () => {
  test("link to files and headings that exist", () => {
    const broken = prose.flatMap(({ path, text }) =>
      [...text.matchAll(/\]\(([^)\s]+)\)/g)]
        .map(([, target = ""]) => target)
        .filter((target) => !/^https?:/.test(target))
        .filter((target) => {
          const [file = "", anchor] = target.split("#");
          const linked = file === "" ? path : normalize(join(dirname(path), file));
          return !existsSync(join(ROOT, linked)) || (anchor !== undefined && !anchorsOf(linked).has(anchor));
        })
        .map((target) => `${path}: ${target}`),
    );
    expect(broken).toEqual([]);
  });

  test("mark every code block as an example that a test runs, or with the reason why none does", async () => {
    const used = new Set<string>();
    for await (const file of new Glob("test/**/*.ts").scan(ROOT)) {
      const source = await Bun.file(join(ROOT, file)).text();
      for (const [, name = ""] of source.matchAll(/documentExample\(\s*"([^"]+)"/g))
        used.add(`example: ${name}`);
    }
    const unused = codeBlocks.filter(({ mark }) => !mark.startsWith("not run: ") && !used.has(mark));
    expect(unused.map(({ path, mark, code }) => [path, mark, code.slice(0, 60)])).toEqual([]);
  });

  test("name only scripts of package.json", () => {
    const named = documents.flatMap(({ text }) =>
      [...text.matchAll(/bun(?:@[\d.]+)? run ([\w:]+)/g)].map(([, name = ""]) => name),
    );
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !Object.keys(scripts).includes(name))).toEqual([]);
  });

  test("name only commands of the program", () => {
    const named = new Set(
      documents.flatMap(({ text }) =>
        [...text.matchAll(/(?:`svc |^\.\/dist\/svc )(?:--\S+ \S+ )*([a-z][a-z-]*)/gm)].map(
          ([, name = ""]) => name,
        ),
      ),
    );
    const help = Bun.spawnSync([...compiledProgram, "--help"]).stdout.toString();
    expect(named.size).toBeGreaterThan(10);
    for (const name of named) expect(help).toMatch(new RegExp(`^  ${name}\\b`, "m"));
  });

  test("name only settings that exist", () => {
    const known = new Set(settings.map(({ key }) => key));
    const sections = new Set(settings.map(({ key }) => key.split(".")[0]));
    const files = /\.(ts|db|md|bin|json|toml|sh|key)$/;
    const named = documents.flatMap(({ path, text }) =>
      [...text.matchAll(/`([a-z]+)\.([a-z0-9_]+)(?: = [^`]*)?`/g)]
        .filter(([, section = "", name]) => sections.has(section) && !files.test(`${section}.${name}`))
        .map(([, section, name]) => ({ path, key: `${section}.${name}` })),
    );
    expect(named.length).toBeGreaterThan(30);
    expect(named.filter(({ key }) => !known.has(key) && !OPERATIONS.has(key))).toEqual([]);
  });
});

test("docs/operate/settings.md lists every setting in its table", () => {
  const [, table = ""] =
    /<!-- settings -->([\s\S]*?)<!-- \/settings -->/.exec(documentText("docs/operate/settings.md")) ?? [];
  const listed = [...table.matchAll(/`(\w+\.\w+)`/g)].map(([, key = ""]) => key);
  expect(listed.sort()).toEqual(settings.map(({ key }) => key).sort());
});

test("SECURITY.md names the credentials and limits that the settings have, with their defaults", () => {
  const text = documents.find(({ path }) => path === "SECURITY.md")?.text.replaceAll(/\s+/g, " ") ?? "";
  expect(text).not.toMatch(/no (API keys|rate limit)/);
  const { http, hub } = configWith();
  expect([http.anonymous, http.anonymous_units_per_minute, hub.admin]).toEqual([true, 0, false]);
  for (const sentence of [
    "By default reads are open to everyone",
    "`http.anonymous_units_per_minute` (0, no limit, by default)",
    "`AdminService`, which accepts on-chain facts without a proof, is off by default",
  ])
    expect(text).toContain(sentence);
});
