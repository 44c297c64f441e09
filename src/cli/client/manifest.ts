import type { Command } from "commander";
import { EXIT_USER, UserError } from "../../lib/failure.ts";
import { parseJson } from "../../lib/json.ts";
import { printable } from "../../lib/text.ts";
import type { CommandContext } from "../context.ts";
import { readInput } from "../input.ts";
import { print, printError } from "../output.ts";
import { type SignerOptions, withSignerOptions } from "./options.ts";

const MAX_MANIFEST_BYTES = 1024 * 1024;
/** Matches a domain, as opposed to a file name: it has no slash. */
const DOMAIN = /^[\w-]+(\.[\w-]+)+$/;

interface CheckOptions {
  readonly url?: string;
  readonly domain?: string;
  readonly assets?: boolean;
  readonly acceptVerification?: boolean;
  readonly json?: boolean;
}

interface ReportedFinding {
  readonly severity: string;
  readonly path: string;
  readonly message: string;
}

/** The parts of a node's report on a manifest that commands print. */
interface Report {
  readonly domain: string;
  readonly account_association: {
    readonly valid: boolean;
    readonly fid: number | null;
    readonly key_bound_by: string | null;
  } | null;
  readonly findings: readonly ReportedFinding[];
}

/** `app check-manifest|associate`: the commands for manifests, which need no signed operation. */
export function registerManifest(program: Command, context: CommandContext): void {
  const app = program.commands.find((command) => command.name() === "app");
  if (app === undefined) throw new Error("the commands of apps are not registered");

  app
    .command("check-manifest")
    .description(
      "check the manifest of a mini app: who signed it, for which domain, and what clients will refuse",
    )
    .argument("<domain or file>", "the domain of the app, or a file with its farcaster.json")
    .option("--domain <domain>", "of a file: the domain that will have it (default: that of homeUrl)")
    .option("--assets", "ask for the images of the manifest, too")
    .option("--accept-verification", "accept an address that the fid has verified as its key")
    .option(
      "--url <url>",
      "base URL of the node (default: that of the data directory, else the address in the settings)",
    )
    .option("--json", "print the JSON of the response")
    .action(async (what: string, options: CheckOptions) => {
      const { readConfig } = await import("../common.ts");
      const { serviceNames } = await import("../../config/names.ts");
      const { nodeUrl, ownNodeUrl } = await import("./node-url.ts");
      const loaded = readConfig(context, "client");
      const base = nodeUrl(options.url ?? ownNodeUrl(loaded));
      const { basePath } = serviceNames(loaded.config.service.name);
      const report = await checkManifest({ base, basePath, what, ...options });
      if (options.json) print(`${JSON.stringify(report, null, 2)}\n`);
      else print(reportText(report));
      if (report.findings.some(({ severity }) => severity === "error")) context.exitCode = EXIT_USER;
    });

  withSignerOptions(
    app
      .command("associate")
      .description("print the account association of a domain, signed by the fid's custody key")
      .requiredOption("--domain <domain>", "the domain, which the manifest will be at"),
  ).action(async ({ domain, ...options }: SignerOptions & { readonly domain: string }) => {
    const { openSigner } = await import("./options.ts");
    if (!DOMAIN.test(domain)) throw new UserError("--domain must be a host alone, such as app.example");
    const { signer } = await openSigner(context, options);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
    const header = encode({ fid: signer.fid, type: "custody", key: signer.account.address });
    const payload = encode({ domain: domain.toLowerCase() });
    const signed = await signer.account.signMessage({ message: `${header}.${payload}` });
    const signature = Buffer.from(signed.slice(2), "hex").toString("base64url");
    print(`${JSON.stringify({ accountAssociation: { header, payload, signature } }, null, 2)}\n`);
  });
}

/**
 * Lets a node check a manifest.
 *
 * @param request.what a domain, or the name of a file.
 * @throws UserError with the status and message of a refusal, RetryableError if there is no response.
 */
export async function checkManifest(
  request: { readonly base: URL; readonly basePath: string; readonly what: string } & CheckOptions,
): Promise<Report> {
  const { base, basePath, what, domain, assets, acceptVerification } = request;
  const { exchange, messageOf } = await import("./client.ts");
  const url = new URL(base);
  url.pathname = `${base.pathname.replace(/\/+$/, "")}${basePath}/frame/manifest`;
  if (acceptVerification) url.searchParams.set("accept", "verification");
  let init: RequestInit = {};
  if (DOMAIN.test(what) && domain === undefined && !(await Bun.file(what).exists())) {
    url.searchParams.set("domain", what);
    if (assets) url.searchParams.set("assets", "true");
  } else {
    const manifest = parseJson(new TextDecoder().decode(await readInput(what, MAX_MANIFEST_BYTES)));
    if (manifest === undefined) throw new UserError(`${what} is not JSON`);
    const host = domain ?? homeHostOf(manifest);
    if (host === undefined) throw new UserError("pass the domain of the app with --domain");
    url.pathname += "/check";
    init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ domain: host, manifest }),
    };
  }
  const { status, text } = await exchange(url, init);
  const response = parseJson(text);
  if (status < 200 || status > 299) throw new UserError(`${status}: ${messageOf(response, text)}`);
  if (!Array.isArray(Object(response).findings))
    throw new UserError(`${base.origin} does not check manifests`);
  return response as Report;
}

/** Warns about parts of an app's manifest that clients will refuse. If the node cannot check it, the command does not fail. */
export async function warnOfManifest(
  { base, basePath }: { readonly base: URL; readonly basePath: string },
  appUrl: string,
): Promise<void> {
  const what = URL.parse(appUrl)?.hostname;
  if (what === undefined || !mayBePublic(what)) return;
  try {
    const { findings } = await checkManifest({ base, basePath, what });
    for (const { severity, path, message } of findings)
      if (severity === "error") printError(`warning: manifest of ${what}: ${line(path, message)}\n`);
  } catch (cause) {
    printError(`warning: the manifest of ${what} was not checked: ${Object(cause).message}\n`);
  }
}

/**
 * Reports whether a host is a name that the public DNS may contain (RFC 6761): only such a host can have a manifest that clients fetch.
 */
function mayBePublic(host: string): boolean {
  return DOMAIN.test(host) && !/(^|\.)(\d+|example|invalid|localhost|test)$/.test(host);
}

function homeHostOf(manifest: unknown): string | undefined {
  const { miniapp, frame } = Object(manifest);
  return URL.parse(String(Object(miniapp ?? frame).homeUrl))?.hostname;
}

const line = (path: string, message: string) => printable(path === "" ? message : `${path} ${message}`);

function reportText({ domain, account_association: association, findings }: Report): string {
  const who =
    association === null
      ? "no one signed it"
      : association.valid
        ? `fid ${association.fid} signed it, by ${association.key_bound_by === "auth_address" ? "an auth address" : "its custody address"}`
        : "its signature does not hold";
  const lines = findings.map(({ severity, path, message }) => `${severity.padEnd(8)}${line(path, message)}`);
  return `${[`${printable(domain)}: ${who}`, ...lines].join("\n")}\n`;
}
