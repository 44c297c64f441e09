import { existsSync, statSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, resolve } from "node:path";
import { followedFids } from "../../config/files/fid-file.ts";
import { readSmallFile } from "../../config/files/small-file.ts";
import { isHost, isLoopbackHost } from "../../config/formats.ts";
import { loadConfig } from "../../config/load.ts";
import type { Config } from "../../config/schema.ts";
import { EXIT_OK, RetryableError, reasonOf, UserError } from "../../lib/failure.ts";
import { systemClock } from "../../runtime/clock.ts";
import { limitsOf } from "../../upstream/peers/network-place.ts";
import { programName } from "../../version.ts";
import type { CommandContext } from "../context.ts";
import { formatUpstreamEstimate } from "../database/records/estimate-text.ts";
import { followedNodeText, partText, wholeNetworkText } from "../doctor/costs.ts";
import { type Finding, runChecks } from "../doctor/finding.ts";
import { followedNodeCheck } from "../doctor/followed-node.ts";
import { freeLines } from "../doctor/place.ts";
import { print, printError } from "../output.ts";
import { commandName } from "../shell/command-name.ts";
import { type Asked, askUpstream } from "./ask-upstream.ts";
import { type Choice, choiceOf, type InitOptions, missingChoice, type Wanted } from "./choice.ts";
import { askWanted, askYesNo, type Dialog, terminalDialog } from "./questions.ts";
import { fileBeside, planFiles, writesFidFile } from "./settings-text.ts";
import { checkFiles, refuseExisting, writeFiles } from "./write-files.ts";

/** Searched for in the working directory. */
export const SETTINGS_FILE = "svc.toml";
const SYSTEM_SETTINGS = "/etc/svc/svc.toml";
/** Exists while systemd is the first process. */
const SYSTEMD = "/run/systemd/system";
const SYSTEM_DATA = "/var/lib/svc";
/** The demo network of bench/README.md. */
const DEMO_COST = "The demo network takes 4 MB of disk, up to 200 MB of memory and 2 seconds.\n";

/**
 * Runs `init`. Nothing is written before everything is known and checked.
 *
 * @throws UserError for conflicting flags; see `askUpstream`, `writeFiles`.
 */
export async function runInit(context: CommandContext, options: InitOptions): Promise<void> {
  const chosen = choiceOf(options);
  const asks = chosen === undefined && !options.json && process.stdin.isTTY === true;
  if (!chosen && !asks) throw missingChoice();
  using dialog = asks ? terminalDialog() : undefined;
  const wanted = await wantedOf(context, options, chosen, dialog);
  const mayReplace = await refuse(wanted, options, dialog);
  const asking = ask(wanted, options);
  const asked = await (dialog?.during(asking) ?? asking);
  const testing = options.estimate ? testUpstreams(wanted) : Promise.resolve([]);
  const upstreams = await (dialog?.during(testing) ?? testing);
  const files = planFiles(wanted, asked, new Date());
  checkFiles(files);
  const cost = `${findingsText(upstreams)}${await costText(wanted, asked)}`;
  if (!options.json) print(cost);
  if (dialog && !(await askYesNo(dialog, `Write ${files.map(({ path }) => path).join(" and ")}?`, true)))
    throw new UserError("nothing was written");
  // Checked again, because asking took some time.
  if (!mayReplace) refuseExisting(files.map(({ path }) => path));
  writeFiles(files, wanted.dataDir);
  const next = nextCommands(wanted);
  const written = files.map(({ path }) => path);
  print(
    options.json
      ? `${JSON.stringify({ files: written, follows: followsOf(wanted, asked), upstreams, estimate: asked.estimate ?? null, next }, null, 2)}\n`
      : `Wrote ${written.join(" and ")}. Next:\n${next.map((line) => `  ${line}\n`).join("")}`,
  );
  context.exitCode = EXIT_OK;
}

async function wantedOf(
  context: CommandContext,
  options: InitOptions,
  chosen: Choice | undefined,
  dialog: Dialog | undefined,
): Promise<Wanted> {
  const { config, dataDir, host, port, logLevel, logFormat, set = [] } = context.flags();
  if (config !== undefined)
    throw new UserError("init reads no settings: --output names the file that it writes");
  const output = settingsFile(options.output);
  const sets = [
    ...(host === undefined ? [] : [`http.host=${host}`]),
    ...(port === undefined ? [] : [`http.port=${port}`]),
    ...(logLevel === undefined ? [] : [`log.level=${logLevel}`]),
    ...(logFormat === undefined ? [] : [`log.format=${logFormat}`]),
    ...set,
  ];
  const given = {
    upstreamUrl: options.upstream?.[0] ?? "",
    dataDir: resolve(dataDir ?? (output === SYSTEM_SETTINGS ? SYSTEM_DATA : join(dirname(output), "data"))),
    isPublic: options.public ?? false,
  };
  const answered = dialog ? await askWanted(dialog, given) : { ...given, choice: chosen ?? { kind: "all" } };
  const { choice, upstreamUrl } = answered;
  if (choice.kind === "demo" && upstreamUrl !== "")
    throw new UserError("--demo is a network of its own: leave out --upstream");
  if (choice.kind === "demo" && (answered.isPublic || sets.some(isPublicHost)))
    throw new UserError("the keys of the demo network are public: leave out --public and other hosts");
  if (choice.kind !== "demo" && upstreamUrl === "")
    throw new UserError(
      "--upstream is missing: the URL of the snapchain node to follow, as http://host:3383",
    );
  const furtherUrls = options.upstream?.slice(1) ?? [];
  return { ...answered, furtherUrls, dataDir: resolve(answered.dataDir), output, set: sets };
}

/** Returns the file that `--output` names. In a directory it is `svc.toml`, as for `cp`. */
function settingsFile(output: string): string {
  const path = resolve(output);
  const isDirectory = output.endsWith("/") || statSync(path, { throwIfNoEntry: false })?.isDirectory();
  return isDirectory ? join(path, SETTINGS_FILE) : path;
}

function isPublicHost(set: string): boolean {
  const [, host] = /^http\.host=(.*)$/s.exec(set) ?? [];
  return host !== undefined && isHost(host) && !isLoopbackHost(host);
}

/**
 * Refuses to replace files unless that is allowed or the operator agrees.
 *
 * @returns whether existing files may be replaced.
 */
async function refuse(
  wanted: Wanted,
  { force = false }: InitOptions,
  dialog: Dialog | undefined,
): Promise<boolean> {
  if (force) return true;
  const paths = [wanted.output, ...(writesFidFile(wanted) ? [fileBeside(wanted.output, "fids")] : [])];
  try {
    refuseExisting(paths);
    return false;
  } catch (cause) {
    if (!dialog) throw cause;
    dialog.say(reasonOf(cause));
    if (!(await askYesNo(dialog, "Replace it?", false))) throw cause;
    return true;
  }
}

export async function ask(wanted: Wanted, { estimate, json = false }: InitOptions): Promise<Asked> {
  const { choice, upstreamUrl: url } = wanted;
  const nothing = { resolved: undefined, estimate: undefined };
  if (choice.kind === "demo") return nothing;
  const named = namedFids(choice);
  const mustAsk = choice.kind === "channel" || choice.kind === "followers";
  if (!mustAsk && !estimate) return nothing;
  const config = settingsOf(wanted);
  const networkName = config.protocol.network;
  const { concurrency } = await limitsOf(config.upstream, url);
  const onProgress = (text: string) => (json ? undefined : printError(`${text} …\n`));
  try {
    const wantsEstimate = estimate;
    return await askUpstream({ url, choice, named, networkName, concurrency, wantsEstimate, onProgress });
  } catch (cause) {
    if (!(cause instanceof RetryableError) || mustAsk) throw cause;
    throw new RetryableError(`${cause.message}. --no-estimate writes the settings without asking it`, {
      cause,
    });
  }
}

/** Returns the settings that flags name. Errors in them are found later, with the whole file. */
function settingsOf({ set }: Wanted): Config {
  const flags = { argvFlags: { set }, env: {}, readFile: () => undefined, cwd: "/" };
  return loadConfig(flags, "client").config;
}

const TEST_TIMEOUT_MS = 15_000;

/** Tests each node like `doctor`: certificates, lag, replication, limits of calls. */
export async function testUpstreams(wanted: Wanted): Promise<readonly Finding[]> {
  const { choice, upstreamUrl, furtherUrls = [] } = wanted;
  if (choice.kind === "demo") return [];
  const config = settingsOf(wanted);
  // Only whether it is the whole network matters here: the list may not be known yet.
  const fids = choice.kind === "all" ? [] : [1];
  const upstream = { ...config.upstream, url: "", urls: [upstreamUrl, ...furtherUrls], fids, fid_file: "" };
  const check = followedNodeCheck({ config: { ...config, upstream }, clock: systemClock });
  return runChecks([check], TEST_TIMEOUT_MS);
}

/** Formats findings as lines, with a line for each advice. */
function findingsText(findings: readonly Finding[]): string {
  return findings
    .map(({ level, check, text, advice }) => {
      const line = `${level === "ok" ? "ok" : level.toUpperCase()}: ${check}: ${text}\n`;
      return advice === undefined ? line : `${line}  ${advice}.\n`;
    })
    .join("");
}

function namedFids(choice: Choice): ReadonlySet<number> | undefined {
  if (choice.kind === "fids") return new Set(choice.fids);
  if (choice.kind !== "file") return undefined;
  const setting = { fids: [], fid_file: resolve(choice.path) };
  try {
    return followedFids(setting, { readFile: readSmallFile, cwd: "/" });
  } catch (cause) {
    throw new UserError(`upstream.fid_file ${reasonOf(cause)}`, { cause });
  }
}

/** Returns the number of followed fids; null for all. */
function followsOf({ choice }: Wanted, { resolved }: Asked): number | null {
  return resolved?.fids.length ?? namedFids(choice)?.size ?? null;
}

export async function costText({ choice, dataDir }: Wanted, { estimate }: Asked): Promise<string> {
  if (choice.kind === "demo") return DEMO_COST;
  const lines = estimate ? [formatUpstreamEstimate(estimate, availableParallelism()).trimEnd()] : [];
  if (choice.kind === "all") lines.push(`the whole network: ${wholeNetworkText()}`, `instead: ${partText()}`);
  else lines.push("more: the profiles of others that they mention");
  lines.push(`the followed node, if it is your own, too: ${followedNodeText()}`);
  if (estimate) lines.push(...(await freeLines(dataDir, estimate.bytesWhileFilling)));
  return `${lines.join("\n")}\n`;
}

function nextCommands({ choice, output }: Wanted): string[] {
  const found = [resolve(SETTINGS_FILE), SYSTEM_SETTINGS].includes(output);
  const svc = found ? commandName : `${commandName} --config ${shellWord(output)}`;
  const isService = output === SYSTEM_SETTINGS && existsSync(SYSTEMD);
  // The unit's user has the name of the program.
  const doctor = isService ? `sudo -u ${programName} ${svc} doctor` : `${svc} doctor`;
  // The unit does not fill a demo network, and only its user may write its data directory. It serves an existing demo network.
  if (choice.kind === "demo")
    return isService
      ? [doctor, `sudo systemctl stop ${programName}`, `sudo -u ${programName} ${svc} serve --demo`]
      : [doctor, `${svc} serve --demo`];
  return [doctor, isService ? `sudo systemctl restart ${programName}` : `${svc} serve`];
}

/** Quotes a text as a word for a shell. */
function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
