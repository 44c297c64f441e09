import { nodeOrigin, pageConfig } from "../page-config.ts";
import type { Call } from "./call.ts";
import { sdkMethods } from "./sdk-methods.ts";

export type SnippetLanguage = "curl" | "TypeScript" | "SDK" | "svc";

/** The ways to make a call that can be copied, the first one the shortest. A call without a method of the SDK has no such way. */
export function snippetsOf(call: Call): readonly { language: SnippetLanguage; text: string }[] {
  if (call.op !== undefined)
    return [
      ...(call.cli === undefined ? [] : [{ language: "svc" as const, text: svcCommand(call.cli) }]),
      { language: "TypeScript", text: signedTypeScript(call, call.op) },
    ];
  const sdk = sdkSnippet(call);
  return [
    { language: "curl", text: curl(call) },
    { language: "TypeScript", text: typeScript(call) },
    ...(sdk === undefined ? [] : [{ language: "SDK" as const, text: sdk }]),
  ];
}

/** A word of a POSIX shell that stands for exactly this text. */
export const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

function curl(call: Call): string {
  const url = shellQuote(`${nodeOrigin}${call.path}`);
  if (call.body === undefined) return call.method === "GET" ? `curl ${url}` : `curl -X ${call.method} ${url}`;
  const method = call.method === "POST" ? "" : `-X ${call.method} `;
  return `curl ${method}${url} \\\n  --json ${shellQuote(JSON.stringify(call.body))}`;
}

function typeScript(call: Call): string {
  const url = JSON.stringify(`${nodeOrigin}${call.path}`);
  if (call.body === undefined && call.method === "GET")
    return `const response = await fetch(${url});\nconst body = await response.json();`;
  const init = [
    `  method: "${call.method}",`,
    ...(call.body === undefined
      ? []
      : [
          '  headers: { "content-type": "application/json" },',
          `  body: JSON.stringify(${JSON.stringify(call.body)}),`,
        ]),
  ];
  return `const response = await fetch(${url}, {\n${init.join("\n")}\n});\nconst body = await response.json();`;
}

function svcCommand(cli: string): string {
  return `${pageConfig.service} ${cli} \\\n  --url ${nodeOrigin} --key-file custody.key`;
}

/** Prints the very typed data that the node verifies; the account is that of the custody address. */
function signedTypeScript(call: Call, op: string): string {
  const prefix = pageConfig.service[0]?.toUpperCase() + pageConfig.service.slice(1);
  const body = call.body === undefined ? '""' : `JSON.stringify(${JSON.stringify(call.body)})`;
  const path = call.path.split("?")[0];
  return `import { keccak256, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const account = privateKeyToAccount(process.env.CUSTODY_KEY as \`0x\${string}\`);
const body = ${body};
const fid = Number(process.env.FID);
const nonce = crypto.randomUUID();
const signedAt = Math.floor(Date.now() / 1000);
const requestHash = keccak256(toHex(\`${call.method} ${path}\\n\${body}\`));
// The typed data of a signed request: docs/signed-requests.
// op ${op}, header prefix X-${prefix}-`;
}

function sdkSnippet(call: Call): string | undefined {
  if (call.method !== "GET") return undefined;
  const [path = "", query = ""] = call.path.split("?");
  const route = path.replace(/^\/v2\/[^/]+/, "");
  const method = sdkMethods.find((candidate) => candidate.route === route);
  const params = method?.params(new URLSearchParams(query));
  if (!method || !params) return undefined;
  const config = `{ apiKey: "NONE", basePath: ${JSON.stringify(nodeOrigin)} }`;
  return `import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";

const client = new NeynarAPIClient(new Configuration(${config}));
const body = await client.${method.name}(${JSON.stringify(params)});`;
}
