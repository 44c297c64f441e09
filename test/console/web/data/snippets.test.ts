import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { Call, Site } from "../../../../src/console/web/data/call.ts";
import { shellQuote, snippetsOf } from "../../../../src/console/web/data/snippets.ts";
import { signedSnippets } from "../../../../src/console/web/owner/signed-snippets.ts";
import { toHex } from "../../../../src/protocol/validate/eth.ts";
import { startSignedApi } from "../../../support/signed-api.ts";
import { custodyWallet } from "../../../support/signing.ts";

const signed = await startSignedApi();
// The snippets sign at the time of the machine.
signed.api.node.clock.setMs(Date.now());
// Beside the project's packages, so that a snippet finds viem and the SDK.
const folder = mkdtempSync(join(import.meta.dir, "../../../../node_modules/.snippets-"));
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await signed[Symbol.asyncDispose]();
});

const site: Site = {
  origin: signed.api.url,
  service: "svc",
  domain: "Svc",
  headerPrefix: "X-Svc-",
  needsApiKey: false,
};

function snippet(call: Call, language: string): string {
  const found = snippetsOf(call, site).find((candidate) => candidate.language === language);
  if (!found) throw new Error(`there is no ${language} for ${call.path}`);
  return found.text;
}

async function run(command: string[], env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn(command, { env: { ...process.env, ...env }, stderr: "pipe" });
  const [out, err, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0) throw new Error(err);
  return out;
}

async function runTypeScript(text: string, env: Record<string, string> = {}): Promise<string> {
  const file = join(folder, `${crypto.randomUUID()}.ts`);
  writeFileSync(file, text);
  return await run([process.execPath, file], env);
}

const user: Call = { method: "GET", path: "/v2/svc/user?fid=3" };
const bulk: Call = { method: "POST", path: "/v2/svc/webhook/preview", body: { text: `it's "here"\n$HOME` } };

describe("the API call of a view", () => {
  test("runs as curl", async () => {
    expect(JSON.parse(await run(["sh", "-c", `${snippet(user, "curl")} -s`]))).toHaveProperty("user.fid", 3);
  });

  test("runs as TypeScript", async () => {
    const out = await runTypeScript(`${snippet(user, "TypeScript")}\nconsole.log(JSON.stringify(body));`);
    expect(JSON.parse(out)).toHaveProperty("user.fid", 3);
  });

  test("of a signed operation is TypeScript that signs as the node verifies", async () => {
    const list: Call = {
      method: "GET",
      path: "/v2/svc/frame/app/list",
      op: "app.read",
      cli: "app list",
      snippets: signedSnippets,
    };
    const create: Call = {
      method: "POST",
      path: "/v2/svc/frame/app/",
      op: "app.create",
      snippets: signedSnippets,
      body: { name: "Bread club", app_url: "https://example.com" },
    };
    const env = { FID: "3", CUSTODY_KEY: toHex(custodyWallet(3).privateKey) };
    const shown = (call: Call) => `${snippet(call, "TypeScript")}\nconsole.log(JSON.stringify(body));`;
    expect(await runTypeScript(shown(create), env)).toContain("Bread club");
    expect(await runTypeScript(shown(list), env)).toContain("Bread club");
    expect(snippet(list, "svc")).toStartWith("svc app list");
    expect(snippetsOf(create, site).map(({ language }) => language)).toEqual(["curl", "TypeScript"]);
  });

  test("of a signed operation is curl that sends the body as it was signed", () => {
    const preview = {
      ...bulk,
      op: "webhook.read",
      snippets: signedSnippets,
      cli: "webhook preview --subscription -",
      cliInput: bulk.body,
    };
    const body = shellQuote(JSON.stringify(bulk.body));
    expect(snippet(preview, "curl")).toBe(
      `body=${body}\nprintf %s "$body" | svc sign --op webhook.read --fid $FID --key-file custody.key --body - \\\n` +
        `  | curl -H @- '${site.origin}${bulk.path}' --data-binary "$body"`,
    );
    expect(snippet(preview, "svc")).toStartWith(
      `printf %s ${body} | svc webhook preview --subscription - \\\n`,
    );
  });

  test("of a node that is read only with an API key takes the key from $SECRET, in each language", async () => {
    const seen: (string | null)[] = [];
    using server = Bun.serve({
      port: 0,
      fetch({ headers }) {
        seen.push(headers.get("x-api-key"));
        return Response.json({ user: {} });
      },
    });
    const keyed = { ...site, origin: server.url.origin, needsApiKey: true };
    const env = { SECRET: "svc_a_b" };
    const texts = (call: Call) => snippetsOf(call, keyed).map(({ text }) => text);
    const [get = "", typeScript = "", sdk] = texts({ ...user, path: "/v2/svc/user/bulk?fids=3" });
    const [post = ""] = texts(bulk);
    const [, stream = ""] = texts({ ...user, isStream: true });
    await Promise.all([get, post].map((text) => run(["sh", "-c", `${text} -s`], env)));
    await runTypeScript(`{ ${typeScript} }\n{ ${stream} }`, env);
    expect(seen).toEqual(Array.from({ length: 4 }, () => env.SECRET));
    expect(sdk).toContain("apiKey: process.env.SECRET!");
    const ofPage: Call = { method: "GET", path: "/console/api/pulse" };
    expect(texts(ofPage).join()).not.toContain("SECRET");
  });

  test("has its body as one word of the shell", async () => {
    const text = snippet(bulk, "curl");
    const echoed = await run(["sh", "-c", text.replace(/^curl/, `printf '%s\\n'`)]);
    expect(echoed).toContain(JSON.stringify(bulk.body));
  });
});

test("a quoted word is that word in a POSIX shell", async () => {
  const words = fc
    .sample(fc.string({ unit: "binary-ascii", maxLength: 60 }), 60)
    .map((word) => word.replaceAll("\0", ""));
  const script = words.map((word) => `printf '%s\\0' ${shellQuote(word)}`).join("\n");
  expect((await run(["sh", "-c", script])).split("\0").slice(0, -1)).toEqual(words);
});
