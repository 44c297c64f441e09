import { describe, expect, test } from "bun:test";
import { readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { blankComments } from "../../../src/cli/sdk-report/blank-comments.ts";
import { sdkReportText } from "../../../src/cli/sdk-report/report-text.ts";
import { createSdkReport, type SdkReport } from "../../../src/cli/sdk-report/sdk-report.ts";
import { readSourceFiles } from "../../../src/cli/sdk-report/source-files.ts";
import { configWith } from "../../runtime/config.ts";
import { compatSupport } from "../../support/compat-support.ts";
import { emptyDir, run } from "../run.ts";
import { BREAD_APP } from "./bread-app.ts";

const config = configWith();
const support = await compatSupport(config);

/** The report of files, by their paths. */
function reportOf(texts: Readonly<Record<string, string>>, settings = config): SdkReport {
  const files = Object.entries(texts).map(([path, text]) => ({ path, text }));
  return createSdkReport("app", { files, skipped: [], isCut: false }, support, settings);
}

const linesOf = ({ calls }: SdkReport) =>
  calls.map(
    ({ call, verdict, places }) => `${verdict} ${call} ${places.map(({ file, line }) => `${file}:${line}`)}`,
  );

/** The requests of one file. */
const requestsIn = (text: string, path = "a.ts") => reportOf({ [path]: text }).calls.map(({ call }) => call);

describe("a repository of eleven files", () => {
  const report = reportOf(BREAD_APP);

  test("each call is listed once, with its support and where it is", () => {
    expect(linesOf(report).toSorted()).toEqual(
      [
        "needs DELETE /v2/farcaster/webhook app/api/hook/route.ts:7",
        "works GET /v1/castsByFid go/main.go:7",
        "not_found GET /v1/farcaster/user scripts/stats.py:9",
        "works GET /v2/farcaster/cast/conversation app/api/hook/route.ts:6",
        "works GET /v2/farcaster/feed/user/popular src/lib/http.ts:6",
        "works GET /v2/farcaster/user/bulk scripts/stats.py:5",
        "not_found GET /v2/farcaster/…/… scripts/run.sh:2",
        "needs POST /v2/farcaster/cast scripts/stats.py:7",
        "needs POST /v2/farcaster/frame/notifications app/api/hook/route.ts:9",
        "needs POST /v2/farcaster/reaction src/lib/http.ts:8",
        "not_implemented POST /v2/farcaster/storage/buy scripts/run.sh:1",
        "needs POST /v2/farcaster/user/follow go/main.go:5",
        "not_found build src/bot.ts:9",
        "not_implemented deployErc721 src/bot.ts:8",
        "works fetchBulkUsers src/feed.ts:5",
        "empty fetchSubscribersForFid src/feed.ts:7",
        "works fetchUserFollowingFeed src/feed.ts:4",
        "not_found lookupUserByFid src/bot.ts:10",
        "works lookupUserByUsername src/feed.ts:6",
        "needs publishCast src/bot.ts:5",
        "needs publishMute src/bot.ts:7",
      ].toSorted(),
    );
    expect(report.unclear.map(({ call }) => call).toSorted()).toEqual(
      [".followUser()", "/v2/farcaster/user/{}"].toSorted(),
    );
    expect(report.ok).toBe(false);
  });

  test("a call says which scope, signer and settings it needs, and which of them are set", () => {
    const needs = Object.fromEntries(
      report.calls.map(({ call, needs }) => [call, needs.map(({ text }) => text)]),
    );
    expect(needs.publishMute).toEqual(["a key with the scope moderate"]);
    const settings = report.calls.flatMap(({ needs }) => needs.filter(({ kind }) => kind === "setting"));
    expect(new Set(settings.map(({ text, isSet }) => `${text} ${isSet}`))).toEqual(
      new Set(["writes.enabled true", "signers.encryption_key false"]),
    );
    expect(report.scopes).toEqual(["read", "write", "webhooks", "push", "moderate"]);
  });

  test("the lines to change are named, and no value of a secret is", () => {
    expect(report.changes.map(({ what }) => what)).toEqual([
      "NEYNAR_API_KEY",
      "NEYNAR_WEBHOOK_SECRET",
      "X-Neynar-Signature",
      "api.neynar.com",
      "hub-api.neynar.com",
      "new Configuration without basePath",
      "webhookUrl of a manifest",
    ]);
    expect(JSON.stringify(report) + sdkReportText(report)).not.toContain("SECRET-VALUE");
  });

  test("the text has a table for each outcome and ends with the command that makes the key", () => {
    const text = sdkReportText(report);
    expect(text).toContain("Distinct calls that work here: 15 of 21.");
    expect(text).toContain("fetchUserFollowingFeed  GET /feed/following     src/feed.ts:4");
    expect(text).toContain("      this service holds no wallets, so it neither sends tokens nor mints");
    expect(text).toContain("--scopes read,write,webhooks,push,moderate");
  });
});

describe("paths in a source", () => {
  const base = 'const API = "https://api.neynar.com/v2/farcaster";\n';
  test.each([
    [`fetch(\`https://api.neynar.com/v2/farcaster/user/bulk?fids=\${fids}\`)`, "GET /v2/farcaster/user/bulk"],
    ["fetch('/v2/farcaster/cast', { method: 'DELETE' })", "DELETE /v2/farcaster/cast"],
    [`axios.put<X>(\`\${host}/v2/farcaster/webhook/\`, body)`, "PUT /v2/farcaster/webhook"],
    [`axios({ method: 'post', url: \`\${host}/v2/farcaster/cast\` })`, "POST /v2/farcaster/cast"],
    [`${base}fetch(API + "/feed/trending?limit=1")`, "GET /v2/farcaster/feed/trending"],
    [`${base}fetch(\`\${API}/user/\${kind}\`)`, undefined],
    [`${base}fetch(\`\${API}/cast/search\${query}\`)`, "GET /v2/farcaster/cast/search"],
    [
      "const api = axios.create({ timeout: 1, baseURL: 'https://api.neynar.com/v2' });\nawait api.post('/farcaster/cast', {})",
      "POST /v2/farcaster/cast",
    ],
    ["// fetch('/v2/farcaster/cast')", undefined],
    ["/* fetch('/v2/farcaster/cast') */", undefined],
    ["router.push('/notifications')", undefined],
  ])("%s", (text, request) => {
    expect(requestsIn(text)).toEqual(request === undefined ? [] : [request]);
  });

  test.each([
    ["a.py", 'requests.request("POST", f"{host}/v2/farcaster/cast", json=x)', "POST /v2/farcaster/cast"],
    ["a.py", "# requests.get('/v2/farcaster/cast')", undefined],
    [
      "a.go",
      'http.NewRequest(http.MethodDelete, host+"/v2/farcaster/block", nil)',
      "DELETE /v2/farcaster/block",
    ],
    ["a.sh", "curl $HOST/v2/farcaster/cast -X POST -d @cast.json", "POST /v2/farcaster/cast"],
    [
      "a.rs",
      'client.get(format!("{}/v2/farcaster/user/bulk?fids={}", host, fids))',
      "GET /v2/farcaster/user/bulk",
    ],
  ])("%s: %s", (path, text, request) => {
    expect(requestsIn(text, path)).toEqual(request === undefined ? [] : [request]);
  });
});

test("methods are those of the SDK's client: not comments, own methods, or other libraries", () => {
  const sdk = 'import { NeynarAPIClient, NeynarHubClient } from "@neynar/nodejs-sdk";\n';
  const calls = (text: string) => requestsIn(sdk + text);
  expect(calls("const c = new NeynarAPIClient(config); c.fetchFeed({})")).toEqual(["fetchFeed"]);
  expect(calls("class A { #c?: NeynarAPIClient; a() { return this.#c!.fetchFeed({}) } }")).toEqual([
    "fetchFeed",
  ]);
  expect(calls("function a(c: NeynarAPIClient) { c\n  .fetchFeed({}) }")).toEqual(["fetchFeed"]);
  expect(calls("const c = new NeynarHubClient(config); c.fetchUserFollowers({})")).toEqual([
    "fetchUserFollowers",
  ]);
  expect(
    calls("const c = new NeynarAPIClient(config); const { fetchFeed, publishCast: publish } = c;"),
  ).toEqual(["fetchFeed", "publishCast"]);
  expect(calls("const c = new NeynarAPIClient(config); // c.fetchFeed({})")).toEqual([]);
  expect(calls("const c = new NeynarAPIClient(config); vite.build(); this.fetchFeed()")).toEqual([]);
  expect(requestsIn("const c = getClient(); c.fetchFeed({})")).toEqual([]);
});

describe("the client of an app", () => {
  const sdk = 'import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";\n';

  test.each([
    ["a plain object", `${sdk}const c = new NeynarAPIClient({ apiKey: process.env.K }); c.fetchFeed({});`],
    [
      "an object in a variable",
      `${sdk}const o = { apiKey: "k" };\nconst c = new NeynarAPIClient(o);\nc.fetchFeed({});`,
    ],
    [
      "a class under another name",
      'import { NeynarAPIClient as Api } from "@neynar/nodejs-sdk";\nconst c = new Api({ apiKey }); c.fetchFeed({});',
    ],
    [
      "a default import",
      'import sdk from "@neynar/nodejs-sdk";\nconst c = new sdk.NeynarAPIClient({ apiKey }); c.fetchFeed({});',
    ],
    [
      "a default import that is taken for the class",
      'import Neynar from "@neynar/nodejs-sdk";\nconst c = new Neynar({ apiKey }); c.fetchFeed({});',
    ],
    [
      "a namespace",
      'import * as sdk from "@neynar/nodejs-sdk";\nconst c = new sdk.NeynarAPIClient({ apiKey }); c.fetchFeed({});',
    ],
    [
      "a class from a default import",
      'import sdk from "@neynar/nodejs-sdk";\nconst { NeynarAPIClient: Api } = sdk;\nconst c = new Api({ apiKey }); c.fetchFeed({});',
    ],
    [
      "require",
      'const sdk = require("@neynar/nodejs-sdk");\nconst c = new sdk.NeynarAPIClient({ apiKey }); c.fetchFeed({});',
    ],
    [
      "a dynamic import",
      'const { NeynarAPIClient: Api } = await import("@neynar/nodejs-sdk");\nconst c = new Api({ apiKey }); c.fetchFeed({});',
    ],
  ])("without basePath is a line to change: %s", (_, text) => {
    const report = reportOf({ "a.ts": text });
    expect(report.calls.map(({ call }) => call)).toEqual(["fetchFeed"]);
    expect(report.changes).toMatchObject([{ what: "new NeynarAPIClient without basePath" }]);
    expect(report.ok).toBe(true);
  });

  test.each([
    ["a Configuration", `${sdk}new NeynarAPIClient(new Configuration({ apiKey, basePath })).fetchFeed({});`],
    ["a plain object", `${sdk}const c = new NeynarAPIClient({ apiKey, basePath: NODE }); c.fetchFeed({});`],
    [
      "settings of another file",
      {
        "a.ts": `${sdk}import { config } from "./b";\nnew NeynarAPIClient(config).fetchFeed({});`,
        "b.ts": `${sdk}export const config = new Configuration({ apiKey, basePath });`,
      },
    ],
  ])("with basePath needs no change: %s", (_, texts) => {
    const report = reportOf(typeof texts === "string" ? { "a.ts": texts } : texts);
    expect(report).toMatchObject({ ok: true, changes: [], unclear: [] });
    expect(report.calls.map(({ call }) => call)).toEqual(["fetchFeed"]);
  });

  test.each([
    [
      "the same file",
      "lacks",
      { "a.ts": "const config = { apiKey };\nconst c = new NeynarAPIClient(config); c.fetchFeed({});" },
    ],
    [
      "two functions of it",
      "lacks",
      {
        "a.ts":
          "function one() { const config = { basePath }; }\nfunction two() { const config = { apiKey }; const c = new NeynarAPIClient(config); c.fetchFeed({}); }",
      },
    ],
    [
      "one other file",
      "unknown",
      {
        "a.ts": 'import { config } from "./b";\nconst c = new NeynarAPIClient(config); c.fetchFeed({});',
        "b.ts": "/* neynar */ export const config = { apiKey };",
      },
    ],
  ])("settings of a file count before those of the same name elsewhere: %s", (_, verdict, texts) => {
    const files = Object.entries(texts).map(([path, text]) => [path, sdk + text]);
    const report = reportOf({
      ...Object.fromEntries(files),
      "next.config.ts": "const config = { basePath: '/app' };",
    });
    expect(report.changes.map(({ what }) => what)).toEqual(
      verdict === "lacks" ? ["new NeynarAPIClient without basePath"] : [],
    );
    expect(report.unclear.map(({ call }) => call)).toEqual(
      verdict === "lacks" ? [] : ["new NeynarAPIClient(…)"],
    );
  });

  test.each(["settings()", "config", "{ ...shared, apiKey }"])(
    "whose settings the sources do not show is one to look at, and not ok: %s",
    (settings) => {
      const text = `${sdk}const c = new NeynarAPIClient(${settings}); c.fetchFeed({});`;
      expect(reportOf({ "a.ts": text })).toMatchObject({
        ok: false,
        unclear: [{ call: "new NeynarAPIClient(…)", places: [{ file: "a.ts", line: 2 }] }],
      });
    },
  );

  test.each([
    ["export default client;", 'import bot from "./lib/neynar";'],
    ["module.exports = client;", 'const bot = require("../lib/neynar.js");'],
    ["export { client as default };", 'import bot, { other } from "@/lib/neynar";'],
    ["export default new NeynarAPIClient({ basePath });", 'import bot from "../lib/neynar.ts";'],
    [
      "export default function make() { return new NeynarAPIClient(config); }",
      'import bot from "@/lib/neynar";',
    ],
  ])("is known by the name that another file gives to a default export: %s %s", (exported, imported) => {
    const report = reportOf({
      "lib/neynar.ts": `${sdk}const config = new Configuration({ basePath });\nconst client = new NeynarAPIClient(config);\n${exported}`,
      "app/a.ts": `${imported}\nbot.fetchFeed({});`,
      "app/index.ts": 'import bot from "./client";\nbot.fetchUserFollowers({});',
    });
    expect(report.calls.map(({ call }) => call)).toEqual(["fetchFeed"]);
    expect(report.unclear.map(({ call }) => call)).toEqual([".fetchUserFollowers()"]);
  });
});

describe("the report is not ok where something is unclear", () => {
  const client = 'import { NeynarAPIClient } from "@neynar/nodejs-sdk";\n';

  test("a call of an object that may not be the client", () => {
    expect(reportOf({ "a.ts": `${client}made().fetchFeed({});` })).toMatchObject({ ok: false, calls: [] });
  });

  test("a method of the client that is chosen at run time", () => {
    const made = "const c = new NeynarAPIClient({ basePath });\n";
    const report = reportOf({ "a.ts": `${client}${made}await c[method]({}); await c[ "fetchFeed" ]({});` });
    expect(report.calls.map(({ call }) => call)).toEqual(["fetchFeed"]);
    expect(report).toMatchObject({
      ok: false,
      unclear: [{ call: "[…]()", why: "the method is chosen at run time" }],
    });
  });

  test("an SDK whose calls are not seen", () => {
    const report = reportOf({ "package.json": '{ "dependencies": { "@neynar/nodejs-sdk": "3.1.0" } }' });
    expect(report).toMatchObject({ ok: false, unclear: [{ call: "@neynar/nodejs-sdk" }] });
  });

  test("a folder of which not everything was read", () => {
    const files = { files: [], skipped: [], isCut: true };
    expect(createSdkReport("app", files, support, config).ok).toBe(false);
    expect(createSdkReport("app", { ...files, isCut: false }, support, config).ok).toBe(true);
    const skipped = { ...files, isCut: false, skipped: ["a.js"] };
    expect(createSdkReport("app", skipped, support, config).ok).toBe(false);
  });
});

test("without the prefix of the hosted API in the settings, the report says so and is not ok", () => {
  const report = reportOf({ "a.ts": "fetch('/v2/farcaster/cast')" }, configWith("service.compat_prefixes="));
  expect(report).toMatchObject({ ok: false, isServed: false });
  expect(sdkReportText(report)).toContain("service.compat_prefixes");
});

describe("hostile sources", () => {
  test("the length and the lines of a text stay when its comments are blanked", () => {
    const pieces = [
      "/*",
      "*/",
      "//",
      "#",
      "'",
      '"',
      "`",
      "\\",
      "\n",
      "://",
      "<!--",
      "-->",
      "a",
      " ",
      "${",
      "}",
    ];
    const text = fc.array(fc.constantFrom(...pieces), { maxLength: 60 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.constantFrom("a.ts", "a.py", "a.json"), (source, path) => {
        const blanked = blankComments(path, source);
        expect(blanked.length).toBe(source.length);
        expect(blanked.split("\n").length).toBe(source.split("\n").length);
        requestsIn(source, path);
      }),
    );
  });

  test("no value is shown, in whichever place a repository has its secrets", () => {
    const secret = fc.oneof(
      fc.uuid(),
      fc.stringMatching(/^[A-Za-z0-9_]{12,40}$/),
      fc.stringMatching(/^[a-z]{12,30}$/),
      fc.stringMatching(/^(NEYNAR_API_KEY|NEYNAR_SECRET|NEXT_PUBLIC_NEYNAR_API_KEY)_[A-Z]{12,20}$/),
    );
    const repository = (key: string): Record<string, string> => ({
      ".env": `NEYNAR_API_KEY=${key}\nNEYNAR_API_KEY_${key}=1\nexport NEYNAR_WEBHOOK_SECRET="${key}"\nHUB=https://api.neynar.com/v2/farcaster/${key}\n`,
      "config.json": `{ "NEYNAR_API_KEY": "${key}", "apiKey": "NEYNAR_SECRET_${key}", "url": "https://${key}.neynar.com/v2/farcaster/user/bulk", "version": "${key}" }`,
      "package.json": `{ "dependencies": { "@neynar/nodejs-sdk": "${key}" } }`,
      "a.ts": `import { NeynarAPIClient } from "@neynar/nodejs-sdk"; // ${key} NEYNAR_API_KEY="${key}"
/* x-api-key: ${key}
const base = "https://api.neynar.com/v2/farcaster/${key}"; */
const base = "https://${key}@api.neynar.com/v2/farcaster";
const NEYNAR_API_KEY = "${key}", client = new NeynarAPIClient({ apiKey: "${key}" });
client.fetchFeed("${key}"); client["fetchFeed"]({ ${key.replaceAll("-", "_")}: 1 }); client.${key.replaceAll("-", "_")}();
new Configuration({ apiKey: "NEYNAR_SECRET_${key}" });
fetch(\`https://api.neynar.com/v2/farcaster/user/bulk?api_key=${key}&x=\${base}\`, { method: "${key}" });
fetch("https://api.neynar.com/v2/farcaster/${key}/user?x"); fetch("https://${key}:${key}@hub-api.neynar.com/v1/${key}");
fetch("/v2/farcaster/user/${key}", { headers: { "x-neynar-signature": "${key}" } }); fetch(\`/v2/farcaster/${key}/\${base}\`);
fetch(base + "/${key}/bulk"); webhook("https://api.neynar.com/f/app/${key}/event"); fetch("/v1/farcaster/${key}");
`,
      "a.py": `requests.get("https://api.neynar.com/v2/farcaster/${key}:${key}", headers={"api_key": "${key}"})  # ${key}\n`,
    });
    fc.assert(
      fc.property(secret, (key) => {
        const report = reportOf(repository(key));
        expect(report.calls.length + report.unclear.length).toBeGreaterThan(3);
        expect((JSON.stringify(report) + sdkReportText(report)).toLowerCase()).not.toContain(
          key.toLowerCase(),
        );
      }),
      { numRuns: 60 },
    );
  });

  const sdk =
    'import { NeynarAPIClient } from "@neynar/nodejs-sdk"; const api = "https://api.neynar.com/v2/farcaster";';
  test.each([
    ["letters", "a"],
    ["dots", "a."],
    ["dashes", "a-"],
    ["parentheses", "("],
    ["white space", "\n \n"],
    ["calls", ".publishCast("],
    ["generics", ".publishCast<{"],
    ["clients", "= () => new NeynarAPIClient("],
    ["paths", `\`/v2/farcaster/\${a}\``],
    ["bases", `\`\${api}/user/\${a}\`;`],
    ["functions", "\nfunction a("],
    ["assignments", "const a = (a: a) "],
    ["hosts", "https://api.neynar.com"],
    ["settings", "a = {"],
    ["imports", 'import a from "./a" '],
  ])("a file of half a megabyte of %s takes bounded time", (_, piece) => {
    const lines = piece.repeat(Math.floor(10_000 / piece.length));
    const text = `${sdk}\n${`${lines}\n`.repeat(50)}`;
    const before = process.cpuUsage();
    reportOf({ "a.ts": text });
    // 20 to 500 ms; quadratic time would be minutes.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(10_000);
  });

  test("a file of unterminated comments is not searched for each end", () => {
    const before = process.cpuUsage();
    blankComments("a.ts", `${"<!--".repeat(4_000)}\n`.repeat(60));
    // 30 ms; quadratic time was half a minute.
    expect(process.cpuUsage(before).user / 1000).toBeLessThan(10_000);
  });

  test("links, named pipes, large and generated files are not read, and deep folders end", async () => {
    using dir = emptyDir();
    using outside = emptyDir();
    const call = "fetch('/v2/farcaster/cast')";
    await Bun.write(join(outside.path, "secret.ts"), call);
    symlinkSync(outside.path, join(dir.path, "outside"));
    symlinkSync(join(outside.path, "secret.ts"), join(dir.path, "secret.ts"));
    symlinkSync(dir.path, join(dir.path, "itself"));
    Bun.spawnSync(["mkfifo", join(dir.path, "pipe.ts")]);
    await Bun.write(join(dir.path, "large.ts"), `${call}\n`.repeat(50_000));
    await Bun.write(join(dir.path, "generated.js"), call.repeat(1_000));
    await Bun.write(join(dir.path, "binary.ts"), `${call}\0`);
    await Bun.write(join(dir.path, "chart.js"), "draw(1);".repeat(10_000));
    await Bun.write(join(dir.path, `${"d/".repeat(60)}deep.ts`), call);
    await Bun.write(join(dir.path, "read.ts"), call);
    const { files, skipped, isCut } = await readSourceFiles(dir.path);
    expect(files.map(({ path }) => path)).toEqual(["read.ts"]);
    expect(skipped).toEqual(["binary.ts", "generated.js", "large.ts"]);
    expect(isCut).toBe(true);
  });

  test("a folder that does not exist is a refusal that names it", () => {
    expect(readSourceFiles("/nowhere")).rejects.toThrow("/nowhere is not a folder that can be read");
  });
});

test("doctor --sdk prints the report of a folder, and exits with 1 if a call does not work", async () => {
  using dir = emptyDir();
  for (const [path, text] of Object.entries(BREAD_APP)) await Bun.write(join(dir.path, path), text);
  await Bun.write(join(dir.path, "node_modules/x/a.js"), "fetch('/v2/farcaster/ban/list')");
  const { exitCode, out, errors } = await run(["doctor", "--sdk", dir.path]);
  expect({ exitCode, errors }).toEqual({ exitCode: 1, errors: "" });
  expect(out).toContain("11 files, SDK 3\nDistinct calls that work here: 15 of 21.");
});

test("every call in the examples of this repository works", () => {
  const examples = join(import.meta.dir, "../../../examples");
  const paths = [...new Bun.Glob("*/*.{ts,py,go,html}").scanSync(examples)];
  const report = reportOf(
    Object.fromEntries(paths.map((path) => [path, readFileSync(join(examples, path), "utf8")])),
  );
  expect(report.calls.map(({ call }) => call)).toContain("publishCast");
  expect(report).toMatchObject({ ok: true, unclear: [] });
  expect(paths.map((path) => dirname(path))).toContain("mention-bot");
});
