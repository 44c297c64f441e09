import { join, resolve } from "node:path";
import { isLoopbackHost } from "../../config/formats.ts";
import { secretKindOf } from "../../config/secret-settings.ts";
import { isSecretValue } from "../../config/secrets.ts";
import { findSetting } from "../../config/settings/settings.ts";
import { FORM_OF_SET, noSuchSetting, shownSet } from "../../config/settings/unknown-names.ts";
import { parseText, tomlValue } from "../../config/values.ts";
import { UserError } from "../../lib/failure.ts";
import { printable } from "../../lib/text.ts";
import { programName } from "../../version.ts";
import type { Asked } from "./ask-upstream.ts";
import type { Wanted } from "./choice.ts";
import type { NewFile } from "./write-files.ts";

/** The content to write, not yet checked. */
interface Scope {
  /** The fids of `upstream.fids`; undefined if a file contains them, or if all are followed. */
  readonly fids?: readonly number[];
  /** The value of `upstream.fid_file`. */
  readonly fidFile?: string;
  /** What the node will follow, as a sentence. */
  readonly text: string;
}

interface Line {
  readonly value: unknown;
  readonly comment: readonly string[];
}

type Sections = Map<string, Map<string, Line>>;

/** Reads of each stranger cost at most a hundredth of a core. A unit is 50 microseconds. */
const PUBLIC_UNITS_PER_MINUTE = 12_000;

const EVERY_NETWORK = "0.0.0.0";
const THIS_MACHINE = "127.0.0.1";

/** Settings that determine the costs and the scope, with their flags. */
const SETTINGS_WITH_FLAGS: ReadonlyMap<string, string> = new Map([
  ["data.dir", "--data-dir"],
  ["upstream.url", "--upstream"],
  ["upstream.urls", "--upstream"],
  ["upstream.fids", "--fids"],
  ["upstream.fid_file", "--fid-file"],
]);

const HEAD = `# Settings of svc, written by \`svc init\`. \`svc config defaults\` prints every setting with its meaning, \`svc config check\` checks
# this file, \`svc doctor\` also the machine and the followed node. Every user of the machine may read it, because commands that call the
# node do: put a secret into a file of its own, and name that, as in password_file.
`;

const BACKUP = `
# Backups of the state by the running node, at this time in UTC. Preferably on another disk.
# [backup]
# dir = "/backup"
# at = "03:15"
`;

/**
 * Returns the settings file, and a file for each secret among its values.
 *
 * @throws UserError for a `--set` that names no setting, or one with a flag of its own. Its value is checked with the whole file.
 */
export function settingsFiles(wanted: Wanted, scope: Scope): [settings: NewFile, ...secrets: NewFile[]] {
  const secrets: NewFile[] = [];
  const named = new Map(wanted.set.map(readSet));
  const sections: Sections = new Map();
  /** Returns the operator's value, or the default. */
  const chosen = (key: string, usual: unknown) => (named.has(key) ? named.get(key) : usual);
  const put = (key: string, usual: unknown, ...comment: readonly string[]) => {
    const [section = "", name = ""] = key.split(".");
    const lines = sections.get(section) ?? new Map<string, Line>();
    const value = chosen(key, usual);
    const kind = secretKindOf(key);
    if (kind !== undefined && isSecretValue(value, kind)) {
      const path = fileBeside(wanted.output, key);
      secrets.push({ path, text: `${Array.isArray(value) ? value.join(",") : value}\n`, isSecret: true });
      lines.set(`${name}_file`, { value: path, comment });
    } else lines.set(name, { value, comment });
    sections.set(section, lines);
    named.delete(key);
  };
  put("data.dir", wanted.dataDir, "Everything that the node stores. A local disk.");
  const host = String(chosen("http.host", wanted.isPublic ? EVERY_NETWORK : THIS_MACHINE));
  if (isLoopbackHost(host)) {
    put("http.host", host, `Only this machine; ${EVERY_NETWORK} serves every network.`);
  } else {
    const networks = host === EVERY_NETWORK ? "Every network of this machine" : "Other machines, too";
    put("http.host", host, `${networks}. Put a proxy with TLS in front of it.`);
    const units = chosen("http.anonymous_units_per_minute", PUBLIC_UNITS_PER_MINUTE);
    const limit = units === PUBLIC_UNITS_PER_MINUTE ? "about a hundredth of a core" : "0 is no limit";
    put(
      "http.anonymous_units_per_minute",
      units,
      `What one client address may read without a key: ${limit}.`,
    );
  }
  put("http.port", 8080);
  if (wanted.choice.kind === "demo")
    put(
      "service.ready_when_empty",
      false,
      `Until \`${programName} serve --demo\` has filled it once, it is not ready for a balancer.`,
    );
  const { upstreamUrl, furtherUrls = [] } = wanted;
  if (furtherUrls.length > 0)
    put(
      "upstream.urls",
      [upstreamUrl, ...furtherUrls],
      "The nodes to follow, one at a time, by their gRPC ports.",
    );
  else if (upstreamUrl !== "")
    put("upstream.url", upstreamUrl, "The node that is followed, by its gRPC port.");
  if (scope.fids) put("upstream.fids", scope.fids, scope.text);
  else if (scope.fidFile !== undefined) put("upstream.fid_file", scope.fidFile, scope.text);
  for (const [key, value] of [...named]) put(key, value);
  const follows = scope.fids || scope.fidFile !== undefined ? "" : `\n# ${printable(scope.text)}\n`;
  const text = `${HEAD}${follows}${[...sections].map(sectionText).join("")}${sections.has("backup") ? "" : BACKUP}`;
  return [{ path: wanted.output, text }, ...secrets];
}

/** Returns a section of a settings file, with its header; empty if there is none. */
export const sectionIn = (text: string, name: string): string =>
  new RegExp(`^\\[${name}\\]\\n(?:[^[\\n].*\\n)*`, "m").exec(text)?.[0] ?? "";

function sectionText([section, lines]: [string, Map<string, Line>]): string {
  const texts = [...lines].map(
    ([name, { value, comment }]) =>
      `${comment.map((line) => `# ${printable(line)}\n`).join("")}${name} = ${tomlValue(value)}\n`,
  );
  return `\n[${section}]\n${texts.join("")}`;
}

function readSet(text: string): [key: string, value: unknown] {
  const at = text.indexOf("=");
  if (at < 1) throw new UserError(`${shownSet(text)} ${FORM_OF_SET}`);
  const key = text.slice(0, at);
  const value = text.slice(at + 1);
  const setting = findSetting(key);
  if (!setting && findSetting(key.replace(/_file$/, ""))) return [key, resolve(value)];
  if (!setting) throw new UserError(`--set ${key} ${noSuchSetting(key, key.split(".", 1)[0] ?? "")}`);
  const flag = SETTINGS_WITH_FLAGS.get(key);
  if (flag !== undefined) throw new UserError(`--set ${key}: init has ${flag} for it`);
  return [key, parseText(setting.schema, value)];
}

/** Returns the path of a file next to the settings, such as the one with the `fids`. */
export function fileBeside(output: string, end: string): string {
  return join(output, "..", `${output.replace(/^.*\//, "").replace(/\.toml$/, "")}.${end}`);
}

function fidFileText(fids: readonly number[], origin: string, upstreamUrl: string, at: Date): string {
  const comment = `# ${printable(origin)}, as ${printable(upstreamUrl)} had them at ${at.toISOString()}.\n`;
  return `${comment}${fids.join("\n")}\n`;
}

/** Longer lists are written to a separate file. */
const MAX_FIDS_IN_SETTINGS = 1000;

/** Returns the files of a choice: the settings, then the files that they name (secrets, and the list of fids if it needs a file). */
export function planFiles(
  wanted: Wanted,
  { resolved }: Pick<Asked, "resolved">,
  now: Date,
): [settings: NewFile, ...others: NewFile[]] {
  const { choice, output, upstreamUrl } = wanted;
  const beside = fileBeside(output, "fids");
  const withFile = (fids: readonly number[], origin: string): [NewFile, ...NewFile[]] => {
    const scope: Scope = { fidFile: beside, text: `${origin}, as of ${now.toISOString().slice(0, 10)}.` };
    const list = { path: beside, text: fidFileText(fids, origin, upstreamUrl, now) };
    return [...settingsFiles(wanted, scope), list];
  };
  const alone = (scope: Scope) => settingsFiles(wanted, scope);
  if (resolved) return withFile(resolved.fids, resolved.origin);
  switch (choice.kind) {
    case "fids": {
      const fids = choice.fids.toSorted((a, b) => a - b);
      if (fids.length > MAX_FIDS_IN_SETTINGS)
        return withFile(fids, `The ${fids.length} fids given to svc init`);
      return alone({
        fids,
        text: "The users that the node follows; of others that they mention it has the profile.",
      });
    }
    case "file":
      return alone({
        fidFile: resolve(choice.path),
        text: "The users that the node follows; of others that they mention it has the profile.",
      });
    case "demo":
      return alone({
        text: "A demo network of its own: `svc serve --demo` fills it once and serves it, as `svc serve` does from then on. Its keys are public, so keep it to this machine.",
      });
    default:
      return alone({ text: "The whole network." });
  }
}

/** Reports whether the choice is written as a file next to the settings. */
export function writesFidFile({ choice }: Pick<Wanted, "choice">): boolean {
  const { kind } = choice;
  return (
    kind === "channel" ||
    kind === "followers" ||
    (kind === "fids" && choice.fids.length > MAX_FIDS_IN_SETTINGS)
  );
}
