import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { consoleText, consoleValues } from "../../config/files/console-file.ts";
import { readSmallFile } from "../../config/files/small-file.ts";
import { applyOf, type SettingApply } from "../../config/settings/changeable.ts";
import type { SettingValues } from "../../config/settings/live-values.ts";
import { findSetting } from "../../config/settings/settings.ts";
import type { RefusedSettings } from "../../console/operator/reports.ts";
import { BusyError, reasonOf } from "../../lib/failure.ts";
import { writePrivateFile } from "../../runtime/files.ts";

/** What the operator's page had set at the last start that succeeded. */
const STARTED_FILE = "settings.started.toml";
/** Where the settings go that prevented a start. */
const REFUSED_FILE = "settings.refused.toml";

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
  const now = valuesIn(path);
  const started = startedValues(path);
  const pick = (values: SettingValues, apply: SettingApply) =>
    Object.entries(values).filter(([key]) => {
      const setting = findSetting(key);
      return setting !== undefined && applyOf(setting) === apply;
    });
  const before = Object.fromEntries([...pick(started, "start"), ...pick(now, "now")]);
  const keys = [...new Set([...Object.keys(now), ...Object.keys(before)])].filter(
    (key) => !Bun.deepEquals(now[key], before[key]),
  );
  if (keys.length === 0) return undefined;
  const refused = { keys, reason: reasonOf(fault), file: fileBeside(path, REFUSED_FILE) };
  return { text: consoleText(before), refused };
}

/**
 * Moves the settings away that prevented a start, once the node has started without them. A kill in between leaves them where they were, too: the
 * next start finds out again.
 */
export function keepWithout(path: string, { text, refused }: StartWithout): void {
  writePrivateFile(refused.file, readSmallFile(path) ?? "");
  writePrivateFile(path, text);
}

/** Notes that the node has started with what the page has set. */
export function noteStarted(path: string): void {
  const noted = fileBeside(path, STARTED_FILE);
  if (!existsSync(path) && !existsSync(noted)) return;
  const text = consoleText(valuesIn(path));
  if (readSmallFile(noted) !== text) writePrivateFile(noted, text);
}

const fileBeside = (path: string, name: string) => join(dirname(path), name);

/** Nothing where the note is damaged: the fault of the start is what counts then. */
function startedValues(path: string): SettingValues {
  try {
    return valuesIn(fileBeside(path, STARTED_FILE));
  } catch {
    return {};
  }
}

const valuesIn = (path: string): SettingValues => consoleValues(readSmallFile(path));
