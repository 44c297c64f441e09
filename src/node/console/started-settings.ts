import { existsSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  consoleText,
  consoleValues,
  readConsoleText,
  STARTED_FILE,
  withConsoleText,
} from "../../config/files/console-file.ts";
import type { ConfigInput } from "../../config/layers.ts";
import { ConfigError, type LoadedConfig, loadConfig } from "../../config/load.ts";
import { applyOf, type SettingApply } from "../../config/settings/changeable.ts";
import type { SettingValues } from "../../config/settings/live-values.ts";
import { findSetting } from "../../config/settings/settings.ts";
import type { RefusedSettings } from "../../console/operator/reports.ts";
import { BusyError, reasonOf } from "../../lib/failure.ts";
import { writePrivateFile } from "../../runtime/files.ts";

/** Where the settings go that prevented a start. Those of earlier starts are in `settings.refused.1.toml` and up, the newest first. */
const REFUSED_FILE = "settings.refused.toml";
const MAX_EARLIER = 9;

/** Another try to start a node, without the changes of the operator's page that no start has seen. */
export interface StartWithout {
  /** The text of the page's file for it. */
  readonly text: string;
  readonly refused: RefusedSettings;
}

/**
 * Returns how a node may start that did not start with what the operator's page had set; undefined if the page has changed nothing that waits for a
 * start, or nothing of it can be the cause: the next start may succeed with it. What takes effect at once was in force before, so it stays: it may be what protects the node.
 */
export function startWithout(path: string | undefined, fault: unknown): StartWithout | undefined {
  if (path === undefined || fault instanceof BusyError) return undefined;
  const now = readable(path);
  // The start had none of them.
  if (now === undefined) return undefined;
  const before = withoutLastChanges(path, now);
  const keys = differing(now, before);
  return keys.length === 0 ? undefined : { text: consoleText(before), refused: refusedBy(path, fault, keys) };
}

/**
 * Returns how a node may start whose settings are not valid because of the page's file, which was edited by hand or written by another version of
 * the program: with what is valid of it, as `startWithout` has it, and with what the last start had of the rest, else with what the last start had, else
 * without it. Undefined where the file is not the cause.
 */
export function startWithoutInvalid(
  fault: unknown,
  given: ConfigInput,
): (StartWithout & { readonly path: string }) | undefined {
  if (!(fault instanceof ConfigError) || fault.consoleFile === undefined) return undefined;
  const path = fault.consoleFile;
  const [now = {}, started] = [readable(path), startedValues(path)];
  const wrong = new Set(fault.problems.map(({ key }) => key));
  // A wrong section says nothing of its settings, and a file that is no TOML nothing at all.
  const isWrong = (key: string) => wrong.has(path) || wrong.has(key) || wrong.has(key.split(".", 1)[0] ?? "");
  const partOf = (values: SettingValues, wrongOnes: boolean) =>
    Object.entries(values).filter(([key]) => isWrong(key) === wrongOnes);
  const valid = Object.fromEntries(partOf(now, false));
  // What may protect the node, as the last start had it.
  const healed = Object.fromEntries([...partOf(started, true), ...partOf(now, false)]);
  for (const before of [withoutLastChanges(path, healed), withoutLastChanges(path, valid), started, {}]) {
    const text = consoleText(before);
    if (!isValid(withConsoleText(given, path, text))) continue;
    const keys = differing(now, before);
    return { path, text, refused: refusedBy(path, fault, keys.length > 0 ? keys : [...wrong]) };
  }
  return undefined;
}

/**
 * Reads the settings of a node for a command beside it. Where the page's file is not valid, they are those of `startWithoutInvalid`, with a warning;
 * the file stays as it is.
 *
 * @throws ConfigError as `loadConfig`, where that file is not the cause.
 */
export function loadWithoutInvalid(given: ConfigInput): LoadedConfig {
  try {
    return loadConfig(given);
  } catch (fault) {
    const without = startWithoutInvalid(fault, given);
    if (!without || !(fault instanceof ConfigError)) throw fault;
    const loaded = loadConfig(withConsoleText(given, without.path, without.text));
    const { path, refused } = without;
    const problems = fault.problems.map(({ key, message }) => (key === path ? message : `${key} ${message}`));
    const warning = `${path} is not valid: ${problems.join("; ")}. Until it is corrected, the node starts without ${refused.keys.join(", ")}`;
    return { ...loaded, warnings: [warning, ...loaded.warnings] };
  }
}

function isValid(input: ConfigInput): boolean {
  try {
    loadConfig(input);
    return true;
  } catch {
    return false;
  }
}

/** What of the page's values waited for a start is as the last start had it; the rest was in force. */
function withoutLastChanges(path: string, now: SettingValues): SettingValues {
  const pick = (values: SettingValues, apply: SettingApply) =>
    Object.entries(values).filter(([key]) => {
      const setting = findSetting(key);
      return setting !== undefined && applyOf(setting) === apply;
    });
  return Object.fromEntries([...pick(startedValues(path), "start"), ...pick(now, "now")]);
}

function differing(now: SettingValues, before: SettingValues): string[] {
  const keys = new Set([...Object.keys(now), ...Object.keys(before)]);
  return [...keys].filter((key) => !Bun.deepEquals(now[key], before[key]));
}

const refusedBy = (path: string, fault: unknown, keys: readonly string[]): RefusedSettings => ({
  keys,
  reason: reasonOf(fault),
  file: fileBeside(path, REFUSED_FILE),
});

/**
 * Moves the settings away that prevented a start, once the node has started without them. A kill in between leaves them where they were, too: the
 * next start finds out again.
 */
export function keepWithout(path: string, { text, refused }: StartWithout): void {
  const taken = readConsoleText(path) ?? "";
  if (existsSync(refused.file) && readConsoleText(refused.file) !== taken) keepEarlier(path);
  writePrivateFile(refused.file, taken);
  writePrivateFile(path, text);
}

/** Makes room for further refused settings: those of the last ten starts that failed are kept. */
function keepEarlier(path: string): void {
  const earlier = (n: number) =>
    fileBeside(path, n === 0 ? REFUSED_FILE : REFUSED_FILE.replace(".toml", `.${n}.toml`));
  for (let n = MAX_EARLIER; n > 0; n--)
    if (existsSync(earlier(n - 1))) renameSync(earlier(n - 1), earlier(n));
}

/** Notes that the node has started with what the page has set. */
export function noteStarted(path: string): void {
  const noted = fileBeside(path, STARTED_FILE);
  if (!existsSync(path) && !existsSync(noted)) return;
  const text = consoleText(valuesIn(path));
  if (readConsoleText(noted) !== text) writePrivateFile(noted, text);
}

const fileBeside = (path: string, name: string) => join(dirname(path), name);

/** Nothing where the note is damaged: the fault of the start is what counts then. */
const startedValues = (path: string): SettingValues => readable(fileBeside(path, STARTED_FILE)) ?? {};

/** The values of a file; undefined for one that cannot be read. */
function readable(path: string): SettingValues | undefined {
  try {
    return valuesIn(path);
  } catch {
    return undefined;
  }
}

const valuesIn = (path: string): SettingValues => consoleValues(readConsoleText(path));
