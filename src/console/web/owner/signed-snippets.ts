import type { Call, Site, Snippet } from "../data/call.ts";
import { shellQuote } from "../data/snippets.ts";

/**
 * Returns the ways to make a signed operation's call, like `snippetsOf` for others. Separate, because the pages that are opened first
 * sign nothing.
 */
export function signedSnippets(call: Call, site: Site): readonly Snippet[] {
  const { op = "", cli, cliInput } = call;
  return [
    ...(cli === undefined ? [] : [{ language: "svc", text: svcCommand(cli, cliInput, site) }]),
    { language: "curl", text: signedCurl(call, op, site) },
    { language: "TypeScript", text: signedTypeScript(call, op, site) },
  ];
}

/** Returns the start of a command that reads JSON from standard input; empty if it reads none. */
const pipedJson = (value: unknown) =>
  value === undefined ? "" : `printf %s ${shellQuote(JSON.stringify(value))} | `;

/** The key is in a file of the reader. */
const signerOf = ({ fid }: Site) => `--fid ${fid ?? "$FID"} --key-file custody.key`;

function svcCommand(cli: string, input: unknown, site: Site): string {
  const { service, origin } = site;
  return `${pipedJson(input)}${service} ${cli} \\\n  --url ${shellQuote(origin)} ${signerOf(site)}`;
}

/** `svc sign` creates the headers, which are valid for one request. */
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

/** Signs in the way that the node verifies: the typed data of docs/apps-and-push.md. */
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
