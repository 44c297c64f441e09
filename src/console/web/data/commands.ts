import { commandSpellings } from "../../../../client/src/commands.generated.ts";
import type { Call, Route } from "./call.ts";
import { type Site, type Snippet, shellQuote } from "./snippets.ts";

/**
 * How a field is spelled as a flag: by another name, by a name for a value, or not at all. Otherwise its name with hyphens is the flag,
 * `--no-` before it clears it, lists are separated by commas, and an object is read from standard input.
 */
type Flag = string | false | Readonly<Record<string, string>>;

const COMMANDS: { readonly [R in Route]?: readonly [usage: string, flags?: Readonly<Record<string, Flag>>] } =
  commandSpellings;

/** The operations with a command. */
export const operationsWithCommand = Object.keys(COMMANDS) as readonly Route[];

/** Objects whose members have flags of their own. */
const WITHIN: ReadonlySet<string> = new Set(["notification", "filter", "quiet_hours"]);

const SAFE_WORD = /^[\w.:-]+$/;
const word = (value: unknown) => (SAFE_WORD.test(String(value)) ? String(value) : shellQuote(String(value)));

function flagOf(flag: string, value: unknown): string {
  if (value === null || value === false) return `--no-${flag}`;
  if (value === true) return `--${flag}`;
  if (typeof value === "object" && !Array.isArray(value)) return `--${flag} -`;
  // A value that begins like a flag is one for the program, unless it is part of the word.
  const text = word(Array.isArray(value) ? value.join(",") : value);
  return text.startsWith("-") || text.startsWith("'-") ? `--${flag}=${text}` : `--${flag} ${text}`;
}

/**
 * The arguments of the `svc` command for an operation, and what it reads as JSON from its standard input. Undefined for an operation without
 * a command. `fields` are those of query and body.
 */
export function commandOf(
  route: Route,
  fields: Readonly<Record<string, unknown>>,
): { readonly cli?: string; readonly cliInput?: unknown } {
  const command = COMMANDS[route];
  if (!command) return {};
  const [usage, flags = {}] = command;
  const given = new Map(
    Object.entries(fields)
      .flatMap(([name, value]) =>
        WITHIN.has(name) ? Object.entries(value as object) : [[name, value] as const],
      )
      .filter(([, value]) => value !== undefined),
  );
  const words = usage.split(" ").flatMap((part) => {
    const name = /^[<[](\w+)[>\]]$/.exec(part)?.[1];
    if (name === undefined) return [part];
    const value = given.get(name);
    given.delete(name);
    return value === undefined ? [] : [word(value)];
  });
  let cliInput: unknown;
  for (const [name, value] of given) {
    const spelled = flags[name] ?? name.replaceAll("_", "-");
    if (spelled === false) continue;
    if (typeof spelled === "object") words.push(`--${spelled[String(value)]}`);
    else words.push(flagOf(spelled, value));
    if (typeof value === "object" && value !== null && !Array.isArray(value)) cliInput = value;
  }
  return { cli: words.join(" "), ...(cliInput !== undefined && { cliInput }) };
}

/** The ways to make the call of a signed operation, as `snippetsOf` has those of others. The pages that are opened first sign nothing. */
export function signedSnippets(call: Call, site: Site): readonly Snippet[] {
  const { op = "", cli, cliInput } = call;
  return [
    ...(cli === undefined ? [] : [{ language: "svc", text: svcCommand(cli, cliInput, site) }]),
    { language: "curl", text: signedCurl(call, op, site) },
    { language: "TypeScript", text: signedTypeScript(call, op, site) },
  ];
}

/** The start of a command that reads JSON from its standard input; empty without any. */
const pipedJson = (value: unknown) =>
  value === undefined ? "" : `printf %s ${shellQuote(JSON.stringify(value))} | `;

/** The key is in a file of the reader's. */
const signerOf = ({ fid }: Site) => `--fid ${fid ?? "$FID"} --key-file custody.key`;

function svcCommand(cli: string, input: unknown, site: Site): string {
  const { service, origin } = site;
  return `${pipedJson(input)}${service} ${cli} \\\n  --url ${shellQuote(origin)} ${signerOf(site)}`;
}

/** `svc sign` makes the headers, which are good for one request. */
function signedCurl(call: Call, op: string, site: Site): string {
  const { service, origin } = site;
  const sign = `${service} sign --op ${op} ${signerOf(site)}`;
  const usual = call.body === undefined ? "GET" : "POST";
  const method = call.method === usual ? "" : `-X ${call.method} `;
  const send = `| curl -H @- ${method}${shellQuote(`${origin}${call.path}`)}`;
  if (call.body === undefined) return `${sign} \\\n  ${send}`;
  return `body=${shellQuote(JSON.stringify(call.body))}
printf %s "$body" | ${sign} --body - \\
  ${send} --data-binary "$body"`;
}

/** Signs as the node verifies it: the typed data of docs/apps-and-push.md. */
function signedTypeScript(call: Call, op: string, { origin, domain, headerPrefix }: Site): string {
  const sent = call.body === undefined ? `""` : `JSON.stringify(${JSON.stringify(call.body)})`;
  const init = call.body === undefined ? "" : "\n  body: sent,";
  return `import { keccak256, stringToBytes, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";

const fid = Number(process.env.FID);
const account = privateKeyToAccount(process.env.CUSTODY_KEY as \`0x\${string}\`);
const sent = ${sent};
const signedAt = Math.floor(Date.now() / 1000);
const nonce = toHex(crypto.getRandomValues(new Uint8Array(32)));
const signature = await account.signTypedData({
  domain: { name: "${domain}", version: "1", chainId: 10 },
  types: {
    ${domain}SignedOp: [
      { name: "op", type: "string" },
      { name: "fid", type: "uint64" },
      { name: "signedAt", type: "uint256" },
      { name: "nonce", type: "bytes32" },
      { name: "requestHash", type: "bytes32" },
    ],
  },
  primaryType: "${domain}SignedOp",
  message: {
    op: ${JSON.stringify(op)},
    fid: BigInt(fid),
    signedAt: BigInt(signedAt),
    nonce,
    requestHash: keccak256(stringToBytes(sent)),
  },
});
const response = await fetch(${JSON.stringify(`${origin}${call.path}`)}, {
  method: "${call.method}",${init}
  headers: {
    "content-type": "application/json",
    "${headerPrefix}Fid": \`\${fid}\`,
    "${headerPrefix}Op": ${JSON.stringify(op)},
    "${headerPrefix}Signed-At": \`\${signedAt}\`,
    "${headerPrefix}Nonce": nonce,
    "${headerPrefix}Signature": signature,
  },
});
const body = await response.json();`;
}
