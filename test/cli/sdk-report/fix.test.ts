import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { createFix, fixText, writeFix } from "../../../src/cli/sdk-report/fix/fix.ts";
import { createSdkReport } from "../../../src/cli/sdk-report/sdk-report.ts";
import { configWith } from "../../runtime/config.ts";
import { compatSupport } from "../../support/compat-support.ts";
import { emptyDir, run } from "../run.ts";
import { BREAD_APP } from "./bread-app.ts";

const config = configWith();
const support = await compatSupport(config);
const NODE = "https://node.example/";

function fixOf(texts: Readonly<Record<string, string>>) {
  const sources = {
    files: Object.entries(texts).map(([path, text]) => ({ path, text })),
    skipped: [],
    isCut: false,
  };
  const report = createSdkReport("app", sources, support, config);
  return { report, fix: createFix(sources, report, NODE) };
}

/** The texts after a fix. */
function fixed(texts: Readonly<Record<string, string>>): Record<string, string> {
  const { files } = fixOf(texts).fix;
  return { ...texts, ...Object.fromEntries(files.map(({ path, after }) => [path, after])) };
}

const fixedText = (text: string, path = "a.ts") => fixed({ [path]: text })[path];
const BASE = 'process.env.FARCASTER_API_URL ?? "https://node.example"';

describe("a fix of the repository of eleven files", () => {
  test("sends every call to the node: the same calls are seen, and no client without basePath is left", () => {
    const before = fixOf(BREAD_APP).report;
    const after = fixOf(fixed(BREAD_APP)).report;
    const names = ({ calls }: typeof before) =>
      calls.map(({ call, verdict }) => `${verdict} ${call}`).toSorted();
    expect(names(after)).toEqual(names(before));
    expect(after.changes.map(({ what }) => what).toSorted()).toEqual([
      "NEYNAR_API_KEY",
      "NEYNAR_WEBHOOK_SECRET",
      "X-Neynar-Signature",
      "api.neynar.com",
      "hub-api.neynar.com",
      "webhookUrl of a manifest",
    ]);
  });

  test("names what is left, with its places, and shows no value of a secret", () => {
    const { fix } = fixOf(BREAD_APP);
    expect(fix.left.map(({ what, places }) => [what, places.map(({ file }) => file)])).toEqual([
      ["api.neynar.com", ["go/main.go"]],
      ["hub-api.neynar.com", ["go/main.go"]],
      ["webhookUrl of a manifest", ["public/.well-known/farcaster.json"]],
    ]);
    expect(fixText(fix, false)).not.toContain("SECRET-VALUE");
    for (const line of [
      'fetch("https://api.neynar.com/v2", { headers: { "x-api-key": "AAAA-BBBB" } });',
      'const c = new NeynarAPIClient({ apiKey: "AAAA-BBBB" });',
      "fetch(`https://api.neynar.com/v2?api_key=AAAA-BBBB&x=1`);",
      'call("https://api.neynar.com/v2", "AAAA-BBBB-CCCC-1111");',
    ]) {
      const text = fixText(fixOf({ "a.ts": line }).fix, false);
      expect([line, text.includes("AAAA"), text.includes("1 line of 1 file")]).toEqual([line, false, true]);
    }
  });

  test.each([
    ["a client with settings from elsewhere", "new NeynarAPIClient(process.env.K!); // neynar", "a.ts:1"],
    [
      "a third client, after two that change",
      [
        'const a = new NeynarAPIClient({ apiKey: "k" });',
        'const b = await fetch("https://api.neynar.com/v2/farcaster/user/bulk?fids=3");',
        "const c = new NeynarAPIClient(process.env.K!);",
      ].join("\n"),
      "a.ts:3",
    ],
    [
      "a path that is built at run time",
      `fetch(\`https://api.neynar.com/v2/farcaster/user/\${kind}\`)`,
      "a.ts:1",
    ],
  ])("lists %s with its place, whether or not it is written", (_, text, place) => {
    const { fix, report } = fixOf({ "a.ts": text });
    expect(report.unclear).toHaveLength(1);
    for (const isWritten of [false, true])
      expect(fixText(fix, isWritten).split("CHECK BY HAND")[1]).toContain(place);
  });

  test("a second fix changes nothing", () => {
    expect(fixOf(fixed(BREAD_APP)).fix.files).toEqual([]);
  });
});

describe("what changes in a line", () => {
  const CASES: readonly (readonly [string, string, string])[] = [
    [
      "settings over several lines",
      "new Configuration({\n  apiKey: k,\n}, neynar)",
      `new Configuration({ basePath: ${BASE},\n  apiKey: k,\n}, neynar)`,
    ],
    [
      "a literal key",
      'const c = new NeynarAPIClient({ apiKey: "ABCDEF-123456" });',
      `const c = new NeynarAPIClient({ basePath: ${BASE}, apiKey: process.env.FARCASTER_API_KEY ?? "" });`,
    ],
    [
      "a template",
      "fetch(`https://api.neynar.com/v2/farcaster/user?fid=$" + "{fid}`)",
      `fetch(\`\${${BASE}}/v2/farcaster/user?fid=\${fid}\`)`,
    ],
    [
      "a bare host beside an operator",
      'const u = "https://hub-api.neynar.com" + path;',
      `const u = (${BASE}) + path;`,
    ],
    ["the login page", 'open("https://app.neynar.com/login")', `open(\`\${${BASE}}/login\`)`],
  ];
  for (const [name, before, after] of CASES) test(name, () => expect(fixedText(before)).toBe(after));

  test("the client of SDK 1 gets its second argument, that of SDK 2 the prefix", () => {
    const sdk = (major: number) => `{ "dependencies": { "@neynar/nodejs-sdk": "^${major}.0.0" } }`;
    const first = fixed({
      "package.json": sdk(1),
      "a.ts": "new NeynarAPIClient(process.env.NEYNAR_API_KEY)",
    });
    expect(first["a.ts"]).toBe(`new NeynarAPIClient(process.env.NEYNAR_API_KEY, { basePath: ${BASE} })`);
    const second = fixed({ "package.json": sdk(2), "a.ts": "new NeynarAPIClient({ apiKey })" });
    expect(second["a.ts"]).toBe(`new NeynarAPIClient({ basePath: \`\${${BASE}}/v2\`, apiKey })`);
  });

  test("one that would not parse does not keep the others from it", () => {
    const type = 'type T = { base: "https://api.neynar.com" };';
    expect(fixedText(`${type}\nconst u = "https://api.neynar.com/v2";`)).toBe(
      `${type}\nconst u = \`\${${BASE}}/v2\`;`,
    );
  });

  test("an attribute of JSX becomes an expression, one of HTML a literal", () => {
    const attribute = '<a data-neynar_login_url="https://app.neynar.com/login">x</a>';
    expect(fixedText(`const a = ${attribute};`, "a.tsx")).toBe(
      `const a = <a data-neynar_login_url={\`\${${BASE}}/login\`}>x</a>;`,
    );
    expect(fixedText(attribute, "a.html")).toBe(
      '<a data-neynar_login_url="https://node.example/login">x</a>',
    );
  });

  test("Python and the shell read the variable in their own way", () => {
    const read = (mark: string) =>
      `os.environ.get(${mark}FARCASTER_API_URL${mark}, ${mark}https://node.example${mark})`;
    expect(fixedText('import os\nu = f"https://api.neynar.com/v2/{x}"\n', "a.py")).toBe(
      `import os\nu = f"{${read("'")}}/v2/{x}"\n`,
    );
    expect(fixedText('import os, requests\nu = "https://api.neynar.com"\n', "a.py")).toBe(
      `import os, requests\nu = ${read('"')}\n`,
    );
    expect(fixedText('curl "https://api.neynar.com/x"', "a.sh")).toBe(
      `curl "\${FARCASTER_API_URL:-https://node.example}/x"`,
    );
  });
});

describe("what stays as it is", () => {
  for (const [name, text, path] of [
    ["a comment", '// "https://api.neynar.com/v2"\n'],
    ["a manifest's webhook", 'const url = "https://api.neynar.com/f/app/1/event";'],
    ["another host of that name", 'const url = "https://api.neynar.com.evil.example/x";'],
    ["the key of an object", 'const hosts = { "https://api.neynar.com": 1 };'],
    ["an import", 'import x from "https://api.neynar.com/x.js";'],
    ["code of a browser", '"use client";\nfetch("https://api.neynar.com/v2");'],
    ["settings from elsewhere", "new NeynarAPIClient(settings); // neynar"],
    ["a single-quoted text of a shell", "echo 'https://api.neynar.com'", "a.sh"],
    ["Python without os", 'u = "https://api.neynar.com"', "a.py"],
    ["a source that does not parse", 'const = "https://api.neynar.com/v2";'],
    ["another language", 'const base = "https://api.neynar.com"', "a.go"],
  ] as const)
    test(name, () => expect(fixedText(text, path ?? "a.ts")).toBe(text));

  test("keeps every other line, whatever surrounds it, and adds or removes none", () => {
    const piece = fc.constantFrom(
      ...[
        "https://api.neynar.com",
        '"',
        "'",
        "`",
        "new Configuration({",
        "apiKey: ",
        "})",
        "\n",
        "\r\n",
        "(",
        " = ",
      ],
      ...[
        "neynar",
        "${",
        "}",
        "//",
        "/*",
        "*/",
        "\\",
        ",",
        ":",
        "x",
        "/v2/farcaster",
        "https://app.neynar.com/login",
      ],
    );
    const source = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(""));
    const path = fc.constantFrom("a.ts", "a.tsx", "a.js", "a.py", "a.sh", "a.html", ".env");
    fc.assert(
      fc.property(source, path, (text, name) => {
        for (const { before, after, lines } of fixOf({ [name]: text }).fix.files) {
          const [old, made] = [before.split("\n"), after.split("\n")];
          expect(made.length).toBe(old.length);
          const shown = new Map(lines.map(({ line, after }) => [line, after]));
          expect(made).toEqual(old.map((line, at) => shown.get(at + 1) ?? line));
        }
      }),
      { numRuns: 500 },
    );
  });
});

test("--write changes the files of the diff with their modes, and no file that has changed meanwhile", async () => {
  using dir = emptyDir();
  for (const [path, text] of Object.entries(BREAD_APP)) {
    mkdirSync(dirname(`${dir.path}/app/${path}`), { recursive: true });
    writeFileSync(`${dir.path}/app/${path}`, text);
  }
  chmodSync(`${dir.path}/app/scripts/run.sh`, 0o755);
  const flags = ["doctor", "--sdk", `${dir.path}/app`, "--fix", "--url", NODE];
  const dry = await run(flags);
  expect(dry.exitCode).toBe(1);
  expect(dry.out).toContain("9 lines of 5 files to change");
  const read = (path: string) => readFileSync(`${dir.path}/app/${path}`, "utf8");
  for (const [path, text] of Object.entries(BREAD_APP)) expect(read(path)).toBe(text);

  expect((await run([...flags, "--write"])).out).toContain("9 lines of 5 files changed");
  const expected = fixed(BREAD_APP);
  for (const path of Object.keys(BREAD_APP)) expect(read(path)).toBe(expected[path] ?? "");
  expect(statSync(`${dir.path}/app/scripts/run.sh`).mode & 0o777).toBe(0o755);

  const { fix } = fixOf(BREAD_APP);
  expect(() => writeFix(`${dir.path}/app`, fix)).toThrow("it has changed meanwhile");
});
