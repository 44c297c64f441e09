import { mustBeAlike } from "../../cluster/shared-settings.ts";
import {
  CONSOLE_SOURCE,
  consoleText,
  consoleValues,
  readConsoleText,
  withConsoleText,
} from "../../config/files/console-file.ts";
import type { ConfigInput } from "../../config/layers.ts";
import { ConfigError, type LoadedConfig, loadConfig } from "../../config/load.ts";
import { ENV_PREFIX } from "../../config/names.ts";
import type { Config } from "../../config/schema.ts";
import { settingValue } from "../../config/secrets.ts";
import { applyOf } from "../../config/settings/changeable.ts";
import { applyValues, type SettingValues } from "../../config/settings/live-values.ts";
import { findSetting } from "../../config/settings/settings.ts";
import { isValid } from "../../config/values.ts";
import { type OperatorRefusal, refuse } from "../../console/operator/operator-sessions.ts";
import { settingsInForce } from "../../console/operator/present.ts";
import type { RefusedSettings, SettingsChanged, SettingsReport } from "../../console/operator/reports.ts";
import { reasonOf } from "../../lib/failure.ts";
import { ok, type Result } from "../../lib/result.ts";
import { writePrivateFile } from "../../runtime/files.ts";
import type { Logger } from "../../runtime/log/logger.ts";
import type { Threads } from "../threads/threads.ts";

/** How the process reads its settings, and restarts with them. */
export interface SettingFiles {
  readonly loaded: Pick<LoadedConfig, "file" | "consoleFile">;
  /** The flags, the environment and the files of the process. */
  readonly given: ConfigInput;
  readonly startAgain: (reason: string) => void;
  /** The settings that the last start left out; undefined if none. */
  readonly refused?: RefusedSettings | undefined;
}

interface Planned {
  readonly path: string;
  readonly text: string;
  readonly loaded: LoadedConfig;
}

const notWritten = (path: string, cause: unknown) =>
  refuse("conflict", `${path} could not be written: ${reasonOf(cause)}`);

/** Lets the response reach the page first. */
const RESTART_AFTER_MS = 500;
const NOT_HERE = "this node was started without files of its settings";

export function createSettingChanges(deps: {
  /** The settings in force on this thread. */
  readonly config: Config;
  readonly sources: ReadonlyMap<string, string>;
  readonly files: SettingFiles | undefined;
  readonly threads: Pick<Threads, "configure">;
  readonly log: Logger;
  /** Adds a mark for a change to the history. */
  readonly mark: (key: string) => void;
}) {
  const { config, files, threads, log, mark } = deps;
  const sources = new Map(deps.sources);
  /** Changes that take effect at the next start. */
  const next = new Map<string, unknown>();
  const path = files?.loaded.consoleFile;
  let last: Promise<unknown> = Promise.resolve();

  const textNow = () =>
    path === undefined ? undefined : files && readConsoleText(path, files.given.readFile);
  /** Returns the values of the file; none if it cannot be read, which a change then reports. */
  function setNow(): SettingValues {
    try {
      return consoleValues(textNow());
    } catch {
      return {};
    }
  }

  const isAlike = (key: string) => config.state.url !== "" && mustBeAlike(config, key);

  /** Returns why a value cannot be set here. */
  function refusalOf(key: string, value: unknown) {
    const setting = findSetting(key);
    if (!setting) return refuse("badRequest", `${key} is not a setting`);
    if (applyOf(setting) === "file")
      return refuse("badRequest", `${key} is not changed here: set it in the settings file`);
    if (value !== null && !isValid(setting, value))
      return refuse("badRequest", `${key} must be ${setting.rule}`);
    if (isAlike(key))
      return refuse(
        "conflict",
        `${key} must be the same on all nodes of the state: change the settings file of each`,
      );
    return undefined;
  }

  /** Returns what a change would write, and the settings that a start would then read. */
  function plan(values: SettingValues): Result<Planned, OperatorRefusal> {
    if (!files || path === undefined) return refuse("conflict", NOT_HERE);
    for (const [key, value] of Object.entries(values)) {
      const refused = refusalOf(key, value);
      if (refused) return refused;
    }
    try {
      const merged = Object.entries({ ...consoleValues(textNow()), ...values });
      const text = consoleText(Object.fromEntries(merged.filter(([, value]) => value !== null)));
      const loaded = loadConfig(withConsoleText(files.given, path, text));
      for (const [key, value] of Object.entries(values)) {
        const source = loaded.sources.get(key);
        if (value !== null && source !== CONSOLE_SOURCE)
          return refuse("conflict", `${key} is set by ${source}, which counts more than this page`);
      }
      return ok({ path, text, loaded });
    } catch (cause) {
      if (!(cause instanceof ConfigError)) return notWritten(path, cause);
      return refuse("badRequest", cause.problems.map(({ key, message }) => `${key} ${message}`).join("; "));
    }
  }

  async function change(values: SettingValues): Promise<Result<SettingsChanged, OperatorRefusal>> {
    const planned = plan(values);
    if (!planned.ok) return planned;
    const { text, loaded } = planned.value;
    try {
      writePrivateFile(planned.value.path, text);
    } catch (cause) {
      return notWritten(planned.value.path, cause);
    }
    return ok(await take(loaded, Object.keys(values)));
  }

  /** Puts changes that need no restart into force, and notes the others. */
  async function take(loaded: LoadedConfig, keys: readonly string[]): Promise<SettingsChanged> {
    const found = keys.flatMap((key) => findSetting(key) ?? []);
    const now = found.filter((setting) => applyOf(setting) === "now");
    const applied = Object.fromEntries(now.map((one) => [one.key, settingValue(loaded.config, one)]));
    for (const setting of found) {
      const { key } = setting;
      const to = settingValue(loaded.config, setting);
      const from = settingValue(config, setting);
      log.info({ setting: key, from, to }, "A setting was changed on the operator's page");
      mark(key);
      if (key in applied) sources.set(key, loaded.places.get(key) ?? "default");
      else if (Bun.deepEquals(from, to)) next.delete(key);
      else next.set(key, to);
    }
    applyValues(config, structuredClone(applied));
    const late = await threads.configure(applied);
    if (late.length > 0) log.warn({ threads: late }, "Busy threads have not yet taken the changed settings");
    const atStart = found.filter(({ key }) => !(key in applied));
    return { applied: Object.keys(applied), at_start: atStart.map(({ key }) => key), late };
  }

  return {
    settings: (): SettingsReport => ({
      settings: settingsInForce(config, sources, { set: setNow(), next, isLocked: lockedBy(files), isAlike }),
      file: path ?? null,
      settings_file: files?.loaded.file ?? null,
      is_shared: config.state.url !== "",
      refused: files?.refused ?? null,
    }),
    /** Checks values and returns why they cannot be set. Changes nothing. */
    checkSettings(values: SettingValues): Result<null, OperatorRefusal> {
      const planned = plan(values);
      return planned.ok ? ok(null) : planned;
    },
    /**
     * Sets values for this node, or removes those that were set here (null). They are written first; those that need no restart are then
     * in force in all threads.
     */
    changeSettings(values: SettingValues): Promise<Result<SettingsChanged, OperatorRefusal>> {
      const changed = last.then(() => change(values));
      last = changed.catch(() => undefined);
      return changed;
    },
    restartNode(): Result<null, OperatorRefusal> {
      if (!files) return refuse("conflict", NOT_HERE);
      setTimeout(() => files.startAgain("the operator's page asked for it"), RESTART_AFTER_MS);
      return ok(null);
    },
  };
}

/** Returns a test for whether a source overrides the page and the settings file. */
function lockedBy(files: SettingFiles | undefined): (source: string) => boolean {
  const isBelow = (source: string) =>
    source === "default" ||
    source === CONSOLE_SOURCE ||
    (source.startsWith("file of ") && !source.startsWith(`file of ${ENV_PREFIX}`)) ||
    (files?.loaded.file !== undefined && source.startsWith(files.loaded.file));
  return (source) => !isBelow(source);
}
