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

/** Where settings are moved that prevented a start. Those of earlier starts are in `settings.refused.1.toml` and up, newest first. */
const REFUSED_FILE = "settings.refused.toml";
const MAX_EARLIER = 9;

/** A way to start a node without the changes of the operator's page that no start has used yet. */
export interface StartWithout {
  /** The new text of the page's file. */
  readonly text: string;
  readonly refused: RefusedSettings;
}

/**
 * Returns how to start a node that failed to start with the settings of the operator's page. Undefined if no change of the page was
 * waiting for a start, or none can be the cause: the next start may then succeed with it. Changes that took effect at once were already
 * in force, so they stay: they may protect the node.
 */
export function startWithout(path: string | undefined, fault: unknown): StartWithout | undefined {
  if (path === undefined || fault instanceof BusyError) return undefined;
  const now = readable(path);
  // The failed start used none of these settings.
  if (now === undefined) return undefined;
  const before = withoutLastChanges(path, now);
  const keys = differing(now, before);
  return keys.length === 0 ? undefined : { text: consoleText(before), refused: refusedBy(path, fault, keys) };
}

/**
 * Returns how to start a node whose settings are invalid because of the page's file, which was edited by hand or written by another
 * version of the program. In order of preference: with the valid part of the file, as in `startWithout`, and the last start's values for
 * the rest; with all values of the last start; without the file. Undefined if the file is not the cause.
 */
export function startWithoutInvalid(
  fault: unknown,
  given: ConfigInput,
): (StartWithout & { readonly path: string }) | undefined {
  if (!(fault instanceof ConfigError) || fault.consoleFile === undefined) return undefined;
  const path = fault.consoleFile;
  const [now = {}, started] = [readable(path), startedValues(path)];
  const wrong = new Set(fault.problems.map(({ key }) => key));
  // If a section is wrong, none of its settings can be used; if the file is not TOML, none at all.
  const isWrong = (key: string) => wrong.has(path) || wrong.has(key) || wrong.has(key.split(".", 1)[0] ?? "");
  const partOf = (values: SettingValues, wrongOnes: boolean) =>
    Object.entries(values).filter(([key]) => isWrong(key) === wrongOnes);
  const valid = Object.fromEntries(partOf(now, false));
  // Settings that may protect the node, as the last start had them.
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
 * Reads the settings of a node for a command. If the page's file is invalid, they are those of `startWithoutInvalid`, with a warning; the
 * file is not changed.
 *
 * @throws ConfigError like `loadConfig`, if that file is not the cause.
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

/** Returns the page's values as of the last start, except those that take effect at once, which were already in force. */
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
 * Moves settings away that prevented a start, once the node has started without them. If the process is killed in between, they are also
 * still in the old place, and the next start finds out again.
 */
export function keepWithout(path: string, { text, refused }: StartWithout): void {
  const taken = readConsoleText(path) ?? "";
  if (existsSync(refused.file) && readConsoleText(refused.file) !== taken) keepEarlier(path);
  writePrivateFile(refused.file, taken);
  writePrivateFile(path, text);
}

/** Makes room for more refused settings: those of the last ten failed starts are kept. */
function keepEarlier(path: string): void {
  const earlier = (n: number) =>
    fileBeside(path, n === 0 ? REFUSED_FILE : REFUSED_FILE.replace(".toml", `.${n}.toml`));
  for (let n = MAX_EARLIER; n > 0; n--)
    if (existsSync(earlier(n - 1))) renameSync(earlier(n - 1), earlier(n));
}

/** Records that the node has started with the page's settings. */
export function noteStarted(path: string): void {
  const noted = fileBeside(path, STARTED_FILE);
  if (!existsSync(path) && !existsSync(noted)) return;
  const text = consoleText(valuesIn(path));
  if (readConsoleText(noted) !== text) writePrivateFile(noted, text);
}

const fileBeside = (path: string, name: string) => join(dirname(path), name);

/** Returns none if the record is damaged, because the fault of the start matters more. */
const startedValues = (path: string): SettingValues => readable(fileBeside(path, STARTED_FILE)) ?? {};

/** Returns the values of a file; undefined if it cannot be read. */
function readable(path: string): SettingValues | undefined {
  try {
    return valuesIn(path);
  } catch {
    return undefined;
  }
}

const valuesIn = (path: string): SettingValues => consoleValues(readConsoleText(path));
