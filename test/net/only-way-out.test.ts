import { describe, expect, test } from "bun:test";

/** Code that opens a connection or imports something that does. Comments and strings are ignored. */
const WAYS_OUT: Readonly<Record<string, RegExp>> = {
  "the global fetch": /(?<![.\w])fetch\b|\b(?:globalThis|Bun|window|self)\.fetch\b/,
  "a fetch session": /\bFetchSession\b/,
  "a socket of Bun": /\bBun\.(?:connect|udpSocket|dns|redis|sql|s3)\b|\bnew\s+(?:RedisClient|SQL|S3Client)\b/,
  "a browser's connection": /\b(?:WebSocket|EventSource|XMLHttpRequest)\b/,
  "a program that connects": /\bBun\.(?:spawn|spawnSync|\$)|\bspawn(?:Sync)?\(/,
};

/** Modules with exports that connect; `harmless` lists exports that any file may import. */
const MODULES: readonly { readonly module: RegExp; readonly harmless?: RegExp }[] = [
  { module: /^(?:node:)?net$/, harmless: /^(?:isIP(?:v4|v6)?|createServer)$/ },
  { module: /^(?:node:)?(?:http|https|http2|tls|dgram|dns|dns\/promises|child_process|cluster|inspector)$/ },
  { module: /^bun$/, harmless: /^(?:file|write|Glob|TOML|stringWidth)$/ },
  { module: /^(?:undici|axios|got|ky|node-fetch|ws|nodemailer|ioredis|pg)(?:\/|$)/ },
  {
    module: /^viem$|^viem\/(?:actions|clients|ens|siwe|account-abstraction)/,
    harmless: /^(?!(?:http|webSocket|ipc|fallback|custom|create\w*)$)/,
  },
  {
    module: /^@grpc\/grpc-js$/,
    harmless: /^(?:Server|ServerCredentials|Metadata|status|Server\w+|handle\w+|sendUnaryData)$/,
  },
];

/** Exceptions and their reasons. */
const EXCEPTIONS: readonly { readonly file: string; readonly what: string; readonly why: string }[] = [
  {
    file: "src/cli/client/healthcheck.ts",
    what: "the global fetch",
    why: "healthcheck calls the operator's own instance, at the address that the operator gives on the command line",
  },
  {
    file: "src/cli/client/client.ts",
    what: "the global fetch",
    why: "the app and webhook commands are the operator's own tool against a URL given on the command line",
  },
  {
    file: "src/cli/listen/follow-stream.ts",
    what: "the global fetch",
    why: "svc listen --stream is the operator's own tool against a URL given on the command line",
  },
  {
    file: "src/console/dev-server.ts",
    what: "the global fetch",
    why: "the developer's own server of the page passes requests on to the node that the command line names",
  },
  {
    file: "src/hub/submit/chain-calls.ts",
    what: "viem: createPublicClient, http",
    why: "the RPC URL is the operator's setting; the transport and the gateways are both given src/net's own fetch",
  },
  {
    file: "src/db/postgres/driver.ts",
    what: "a socket of Bun",
    why: "state.url is the operator's setting, and nothing that the server says leads to another address",
  },
  {
    file: "src/db/postgres/driver.ts",
    what: "bun: SQL",
    why: "the driver of the same server; it is handed host and port as they are in the setting",
  },
  {
    file: "src/node/snapshot/database-task.ts",
    what: "a program that connects",
    why: "it runs this very program for one task on database files, which opens no connection",
  },
  {
    file: "src/cli/doctor/place.ts",
    what: "a program that connects",
    why: "it runs this very program to look at a directory, which opens no connection",
  },
  {
    file: "src/sign-in/contract-signature.ts",
    what: "dynamic-import of viem",
    why: "it takes the code of a contract from viem, and calls the operator's RPC by src/net's own fetch",
  },
  {
    file: "src/cli/sdk-report/sign-in-rules.ts",
    what: "the global fetch",
    why: "it looks for quickAuth.fetch in the sources of an app, and calls nothing",
  },
  {
    file: "src/upstream/calls/connection.ts",
    what: "@grpc/grpc-js: Client, connectivityState, credentials",
    why: "upstream.urls are the operator's setting, and nothing that the upstream says leads to another address",
  },
];

const transpilers = {
  ts: new Bun.Transpiler({ loader: "ts" }),
  tsx: new Bun.Transpiler({ loader: "tsx" }),
};

/** A property or method that is called fetch, as a server's handler is. */
const OWN_FETCH = /([{,;]\s*|^\s*)(?:async\s+)?fetch\s*(?:\??:|\([^)]*\)\s*(?::[^={]*)?\{)/gm;

/** Returns code without comments, string contents and definitions of an own fetch. */
function codeOf(source: string): string {
  return source
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/(?<![:"'`\\])\/\/[^\n]*/g, "")
    .replaceAll(/"(?:[^"\\\n]|\\.)*"/g, '""')
    .replaceAll(OWN_FETCH, "$1");
}

/** Returns the connecting calls of a source text, in the form of the exceptions. */
function waysOut(source: string, language: keyof typeof transpilers = "ts"): string[] {
  const code = codeOf(source);
  const found = Object.entries(WAYS_OUT)
    .filter(([, pattern]) => pattern.test(code))
    .map(([what]) => what);
  for (const [, clause = "", module = ""] of source.matchAll(
    /^(?:import|export)\s(?!type\s)([^;"]*?)from\s+"([^"]+)"/gm,
  )) {
    const rule = MODULES.find((candidate) => candidate.module.test(module));
    if (!rule) continue;
    const names = /\{([^}]*)\}/.exec(clause)?.[1]?.split(",") ?? [`${clause.trim()} as a whole`];
    const taken = names
      .map((name) => name.trim())
      .filter((name) => name !== "" && !name.startsWith("type ") && !rule.harmless?.test(name));
    if (taken.length > 0) found.push(`${module}: ${taken.sort().join(", ")}`);
  }
  for (const { kind, path } of transpilers[language].scanImports(source)) {
    if (kind !== "import-statement" && MODULES.some(({ module }) => module.test(path)))
      found.push(`${kind} of ${path}`);
  }
  return found;
}

describe("src/net is the only way out", () => {
  test("nothing else in src opens a connection, except listed exceptions, which are all in use", async () => {
    const found: string[] = [];
    let files = 0;
    for await (const file of new Bun.Glob("src/**/*.ts").scan(`${import.meta.dir}/../..`)) {
      files += 1;
      // The page of the console runs in browsers, whose policy lets it call only its own node.
      if (file.startsWith("src/net/") || file.startsWith("src/console/web/")) continue;
      const source = await Bun.file(`${import.meta.dir}/../../${file}`).text();
      found.push(...waysOut(source).map((what) => `${file}: ${what}`));
    }
    expect(files).toBeGreaterThan(100);
    expect(found.sort()).toEqual(EXCEPTIONS.map(({ file, what }) => `${file}: ${what}`).sort());
  });

  test("the page of the console calls its node in one file, which gives every call a time limit", async () => {
    const found: string[] = [];
    for await (const file of new Bun.Glob("src/console/web/**/*.{ts,tsx}").scan(`${import.meta.dir}/../..`)) {
      // Its snippets are texts with calls.
      if (file.endsWith("snippets.ts")) continue;
      const source = await Bun.file(`${import.meta.dir}/../../${file}`).text();
      const ways = waysOut(source, file.endsWith("x") ? "tsx" : "ts");
      found.push(...ways.map((what) => `${file}: ${what}`));
    }
    expect(found).toEqual(["src/console/web/data/request.ts: the global fetch"]);
  });

  test.each([
    'await fetch("https://a.example/");',
    "const get = fetch;",
    "call({ fetchFn: fetch });",
    "await globalThis.fetch(url);",
    "await Bun.fetch(url);",
    "new Bun.FetchSession();",
    "await Bun.connect({ hostname, port });",
    'new WebSocket("wss://a.example");',
    'Bun.spawn(["curl", url]);',
    'import { request } from "node:https";',
    'import https from "https";',
    'import * as net from "node:net";',
    'import { connect } from "bun";',
    'import { connect, isIP } from "node:net";',
    'import { createPublicClient, http } from "viem";',
    'import { Client, credentials } from "@grpc/grpc-js";',
    'const { request } = await import("node:http");',
    'const { request } = require("node:http");',
  ])("detects %s", (source) => {
    expect(waysOut(source)).not.toEqual([]);
  });

  test.each([
    "// then fetch(url)",
    'const text = "fetch(url)";',
    "app.fetch(request);",
    "Bun.serve({ fetch(request) { return answer(request); } });",
    "Bun.serve({ fetch: (request) => answer(request) });",
    'import { isIP, isIPv6 } from "node:net";',
    'import { type AddressInfo, createServer, type Socket } from "node:net";',
    'import { Server, ServerCredentials } from "@grpc/grpc-js";',
    'import { hashTypedData } from "viem/utils";',
  ])("ignores %s", (source) => {
    expect(waysOut(source)).toEqual([]);
  });

  test("every exception has a reason", () => {
    for (const { why } of EXCEPTIONS) expect(why.length).toBeGreaterThan(40);
  });
});
